import type { BatchId } from '../../core/ids.js';
import type { ContentWords } from '../../core/reference.js';
import { BareRows } from './sketch.js';

/**
 * The rows of a file to compare, or dead letters. One that stands in for an order of an earlier batch is known by
 * that order: only what was sealed or retried after that batch can have paid it since.
 */
export class ComparedRows {
  private readonly byReplaced = new Map<string | null, BareRows>();
  /** Rows whose members a table gave, by what stood in their cells. */
  private readonly byOrigin = new Map<string | null, BareRows>();
  /** Batches to compare with however old they are, by number: what was cancelled of the same file. */
  whenever: readonly string[] = [];
  /**
   * Whether a sketch alone is no answer: where rows are left out or retried for it, an unpaid one would be called paid.
   * An archive that cannot be read is the end then.
   */
  exact = false;
  /** Under a label all is meant once more, but for what was given under the same label; null: no label. */
  label: string | null = null;
  /** Rows that are not compared, by index: their orders are in the batch already. */
  passed: ReadonlySet<number> = new Set();
  /** The batch that they are: another terminal may seal it meanwhile. */
  own: BatchId | null = null;

  get size(): number {
    return this.groups().reduce((sum, [, { size }]) => sum + size, 0);
  }

  add(index: number, line: number, content: ContentWords, replacedNo: string | undefined): void {
    put(this.byReplaced, replacedNo).add(index, line, content);
  }

  addOrigin(index: number, line: number, origin: ContentWords, replacedNo: string | undefined): void {
    put(this.byOrigin, replacedNo).add(index, line, origin);
  }

  /**
   * Equal rows that stand in for orders of two batches, by their lines: a file with rows of another that were refused
   * there, and that it was given for, has them too. Nobody but a person can tell whether that is one debt or two.
   */
  twins(): (readonly [line: number, other: number])[] {
    const standing = this.groups().flatMap(([no, rows]) => (no === null ? [] : [rows]));
    return standing.flatMap((later, at) =>
      standing.slice(0, at).flatMap((earlier) => {
        const lines: [number, number][] = [];
        for (let entry = 0; entry < later.contents; entry++) {
          const same = earlier.find(...later.wordsOf(entry));
          let [one, other] = [later.firstOf(entry), same === -1 ? 0 : earlier.firstOf(same)];
          for (; one !== 0 && other !== 0; one = later.after(one), other = earlier.after(other))
            lines.push([later.lineOf(one), earlier.lineOf(other)]);
        }
        return lines;
      }),
    );
  }

  /** The rows by the number of the batch whose orders they stand in for; null for those that stand in for none. */
  groups(): RowGroups {
    return [...this.byReplaced];
  }

  originGroups(): RowGroups {
    return [...this.byOrigin];
  }
}

export type RowGroups = readonly (readonly [replacedNo: string | null, rows: BareRows])[];

function put(groups: Map<string | null, BareRows>, replacedNo: string | undefined): BareRows {
  const no = replacedNo ?? null;
  const rows = groups.get(no) ?? new BareRows();
  groups.set(no, rows);
  return rows;
}
