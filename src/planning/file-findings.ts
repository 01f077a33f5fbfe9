import type { ErrorCode } from '../core/errors/catalogue.js';
import { BATCH_SUM_MAX } from '../core/points.js';
import { show } from '../core/visible.js';
import { type Finding, ofFile, type RowNote } from '../csv/row.js';
import type { Members } from './members.js';

export type TotalsCaps = { readonly maxTokensPerBatch: number | null };

/** How many, and the first few with their lines: one warning for each kind, not one for each row. */
export class Tally {
  count = 0;
  readonly #examples: string[] = [];

  note(member: string, firstLine: number, line: number): void {
    this.count++;
    if (this.#examples.length < EXAMPLES_KEPT)
      this.#examples.push(`${member} on lines ${firstLine} and ${line}`);
  }

  get examples(): string {
    return this.#examples.join('; ') + (this.count > this.#examples.length ? '; …' : '');
  }
}

/** Cells with one plain meaning that are not written plainly: one note for each way and column, not for each cell. */
export class ReadAs {
  readonly #seen = new Map<string, { readonly first: RowNote; readonly line: number; count: number }>();

  note(first: RowNote, line: number): void {
    const key = `${first.note} ${first.column}`;
    const known = this.#seen.get(key);
    if (known === undefined) this.#seen.set(key, { first, line, count: 1 });
    else known.count += 1;
  }

  findings(): Finding[] {
    return [...this.#seen.values()].map(({ first: { note, column, cell, read }, line, count: cells }) => ({
      line: cells === 1 ? line : 0,
      column,
      code: 'ALM_PLAN_READ_AS',
      message: `${count(cells, `cell of ${show(column)} has`, `cells of ${show(column)} have`)} ${HOW[note]}: ${show(cell)} on line ${line} is read as ${read}.`,
    }));
  }
}

const HOW: Readonly<Record<RowNote['note'], string>> = {
  mention: 'a mention around the id',
  apostrophe: 'an apostrophe before the id',
  plus: 'a plus sign',
  zeros: 'zeros behind a point or comma',
};

type TotalledFile = {
  readonly members: Members;
  readonly amounts: Amounts;
  readonly repeated: Tally;
  readonly gainsAndLoses: Tally;
  /** The first lines whose cells hold what looks like whole rows. */
  readonly swallowing: readonly number[];
  readonly readAs: ReadAs;
};

type Figures = { readonly rows: number; readonly total: bigint; readonly payable: bigint };

const EXAMPLES_KEPT = 3;
const UNUSUAL_FACTOR = 100;
/** Below this number of amounts there is no "usual". */
const UNUSUAL_ROWS_MIN = 5;

/** What only the whole file shows: sums over a cap, damaged ids, and what is odd. */
export function fileFindings(
  surveyed: TotalledFile,
  figures: Figures,
  caps: TotalsCaps,
): { readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] } {
  const faults: Finding[] = [];
  const warnings: Finding[] = [];
  const fault = (code: ErrorCode, message: string) => faults.push(ofFile(code, message));
  const warn = (code: ErrorCode, message: string) => warnings.push(ofFile(code, message));
  const { maxTokensPerBatch: cap } = caps;
  const { rows, total, payable } = figures;
  if (rows === 0) fault('ALM_FILE_NO_ROWS', 'There are no rows; there is nothing to pay.');
  if (total > BATCH_SUM_MAX)
    fault(
      'ALM_PLAN_SUM_TOO_LARGE',
      `The amounts add up to ${total}; at most ${BATCH_SUM_MAX} fit one batch.`,
    );
  else if (cap !== null && payable > BigInt(cap))
    fault(
      'ALM_PLAN_OVER_BATCH_CAP',
      `The file would move ${payable} points, ${payable - BigInt(cap)} more than the cap of ${cap} for one batch.`,
    );
  const { members, repeated, gainsAndLoses, swallowing } = surveyed;
  const damage = damagedIds(members);
  if (damage !== undefined) (damage.code === 'ALM_PLAN_IDS_DAMAGED' ? faults : warnings).push(damage);
  if (repeated.count > 0)
    warn(
      'ALM_PLAN_MEMBER_REPEATED',
      `${count(repeated.count, 'member stands', 'members stand')} in more than one row: ${repeated.examples}.`,
    );
  if (gainsAndLoses.count > 0)
    warn(
      'ALM_PLAN_MEMBER_GAINS_AND_LOSES',
      `${count(gainsAndLoses.count, 'member both gains and loses', 'members both gain and lose')}, and order between rows is not promised: ${gainsAndLoses.examples}. Have them sent strictly in order if it matters (--in-order).`,
    );
  if (swallowing.length > 0)
    warn(
      'ALM_PLAN_ROW_INSIDE_CELL',
      `A quoted cell on line ${swallowing.join(', ')} holds what looks like whole rows; they would not be paid. Is a quote closed in the wrong row?`,
    );
  warnings.push(...surveyed.readAs.findings());
  const unusual = unusualAmounts(surveyed.amounts);
  if (unusual !== undefined) warnings.push(unusual);
  return { faults, warnings };
}

/** How many ids are so, and the first few with their lines. */
function idsWhere(members: Members, isSo: (entry: number) => boolean): { found: number; list: string } {
  let found = 0;
  const examples: string[] = [];
  for (let entry = 0; entry < members.size; entry++) {
    if (!isSo(entry)) continue;
    found++;
    if (examples.length < EXAMPLES_KEPT)
      examples.push(`${members.idOf(entry)} on line ${members.firstLineOf(entry)}`);
  }
  return { found, list: examples.join(', ') };
}

/**
 * Spreadsheets keep 15 digits and write zeros for the rest. Some ids end so by nature: of those that a power of two
 * divides, as it does many ids that chat services make, one in five of 16 digits, one in 25 of 17, and so on. Five times
 * that and two more is no accident. Each id counts once, however many rows it has.
 */
function damagedIds(members: Members): Finding | undefined {
  let [long, byNature] = [0, 0];
  const { found, list } = idsWhere(members, (entry) => {
    const beyond = members.lengthOf(entry) - 15;
    if (beyond < 1) return false;
    long++;
    const end = members.lowDigitsOf(entry) % 10 ** beyond;
    if (end % 2 ** beyond === 0) byNature += 5 ** -beyond;
    return end === 0;
  });
  if (found > 5 * byNature + 2 || (found >= 2 && found === long))
    return ofFile(
      'ALM_PLAN_IDS_DAMAGED',
      `${found} of ${long} long ids end in zeros after digit 15 (${list}): a spreadsheet has rounded them, and the points would go to strangers. Export the ids again as text.`,
    );
  // An id of 16 digits that ends in one zero is too common to be worth a word.
  if (found === 0 || found <= 2 * byNature) return undefined;
  return ofFile(
    'ALM_PLAN_ID_ENDS_IN_ZEROS',
    `${count(found, 'long id ends', 'long ids end')} in zeros after digit 15 (${list}), as a spreadsheet leaves them; compare with the source.`,
  );
}

function unusualAmounts(amounts: Amounts): Finding | undefined {
  const median = amounts.median();
  const unusual = amounts.largest.filter((amount) => amount.tokens > UNUSUAL_FACTOR * median);
  if (amounts.count < UNUSUAL_ROWS_MIN || unusual.length === 0) return undefined;
  const list = unusual.map((amount) => `${amount.tokens} on line ${amount.line}`).join(', ');
  const message = `Amounts more than ${UNUSUAL_FACTOR} times the usual (about ${median}): ${list}.`;
  return ofFile('ALM_PLAN_AMOUNT_UNUSUAL', message);
}

function count(n: number, one: string, many: string): string {
  return `${n} ${n === 1 ? one : many}`;
}

/** The amounts of a file: an estimate of their median and the largest few, whatever the number of rows. */
const LARGEST_KEPT = 5;
const SUB_BUCKETS = 32;

export class Amounts {
  /** 32 buckets for each power of two: exact up to 64, within 3 % beyond. */
  readonly #counts = new Uint32Array(54 * SUB_BUCKETS);
  readonly #float = new Float64Array(1);
  readonly #words = new Uint32Array(this.#float.buffer);
  /** Largest first. */
  readonly largest: { readonly tokens: number; readonly line: number }[] = [];
  count = 0;

  add(tokens: number, line: number): void {
    this.count++;
    const bucket = this.#bucketOf(tokens);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    const smallest = this.largest[LARGEST_KEPT - 1];
    if (smallest !== undefined && tokens <= smallest.tokens) return;
    let at = this.largest.length;
    while (at > 0 && (this.largest[at - 1]?.tokens ?? 0) < tokens) at--;
    this.largest.splice(at, 0, { tokens, line });
    if (this.largest.length > LARGEST_KEPT) this.largest.pop();
  }

  /** The lower end of the bucket that holds the median; 0 without amounts. */
  median(): number {
    let left = Math.ceil(this.count / 2);
    for (let bucket = 0; bucket < this.#counts.length && left > 0; bucket++) {
      left -= this.#counts[bucket] ?? 0;
      if (left <= 0)
        return Math.floor(2 ** Math.floor(bucket / SUB_BUCKETS) * (1 + (bucket % SUB_BUCKETS) / SUB_BUCKETS));
    }
    return 0;
  }

  /** Exponent and the first five bits of the fraction, read from the number's own representation. */
  #bucketOf(tokens: number): number {
    this.#float[0] = tokens;
    return ((this.#words[1] ?? 0) >>> 15) - (1023 << 5);
  }
}
