import type { Finding } from '../csv/row.js';
import type { Findings } from './findings.js';

const HELD_BACK_MAX = 1000;

/**
 * Rows whose order a row of another batch stands in for, by that batch's number. Which batch the file is, is known
 * only at its end: a million rows of a file that is given again are held back, and none of them is a fault.
 */
export class HeldBack {
  private readonly batches = new Map<string, { kept: Finding[]; more: number }>();

  add(no: string, finding: Finding): void {
    const held = this.batches.get(no) ?? { kept: [], more: 0 };
    this.batches.set(no, held);
    if (held.kept.length < HELD_BACK_MAX) held.kept.push(finding);
    else held.more += 1;
  }

  /** Orders for which this very batch stands in already are no faults. */
  fault(findings: Findings, ownNo: string | null): void {
    for (const [no, { kept, more }] of this.batches) {
      if (no === ownNo) continue;
      for (const finding of kept) findings.fault(finding);
      const last = kept.at(-1);
      if (more > 0 && last !== undefined)
        findings.fault({ ...last, message: `${last.message} So were those of ${more} rows after it.` });
    }
  }
}
