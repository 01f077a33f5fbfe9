import type { Caps, RealmIdentity } from '../../src/core/profile.js';
import type { ParsedSheet } from '../../src/csv/parse.js';
import { BrokenFile } from '../../src/csv/row.js';
import { FileTotals, type FileTotalsResult } from '../../src/planning/file-totals.js';
import type { Findings } from '../../src/planning/findings.js';
import { BatchDigest } from '../../src/planning/paid-before/identity.js';

/** What one reading of a whole file gives: all a preview needs before the ledger is asked. */
export type ReadThrough = {
  readonly totals: FileTotalsResult;
  /** The batch's identity as 64 hex digits; null when the file could not be read to its end. */
  readonly sha256: string | null;
};

/**
 * Reads a file once from end to end without keeping a row. Faults and warnings go to `findings`; a file that
 * breaks off gets the fault that ended it after those of the rows before.
 */
export async function readThrough(
  parsed: ParsedSheet,
  realm: RealmIdentity,
  caps: Pick<Caps, 'maxTokensPerBatch'>,
  again: string | null,
  findings: Findings,
): Promise<ReadThrough> {
  const totals = new FileTotals(parsed.sheet);
  const digest = new BatchDigest(realm, again, null);
  let whole = true;
  try {
    for await (const block of parsed.blocks) {
      for (const row of block) {
        totals.add(row);
        if (row.kind === 'invalid') for (const finding of row.findings) findings.fault(finding);
        else digest.add(row);
      }
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    whole = false;
    findings.fault(error.finding);
  }
  const result = totals.finish(caps);
  for (const finding of result.faults)
    if (whole || finding.code !== 'ALM_FILE_NO_ROWS') findings.fault(finding);
  for (const finding of result.warnings) findings.warning(finding);
  return { totals: result, sha256: whole ? digest.hex() : null };
}
