import { type BatchId, orderId, undoReference } from '../core/ids.js';
import type { ContentWords } from '../core/reference.js';
import { SPENDING_STATES } from '../core/states.js';
import {
  type Arrivals,
  type BatchRef,
  type BatchView,
  findSpent,
  isArchiveAway,
  LOOK_BACK_MS,
  listBatches,
  PLAN_BLOCK_ROWS,
  type RealmLedger,
  readArrivals,
  readBatch,
  readRecord,
  readSketch,
  retriedOrders,
  type StoredBatch,
  sealNumber,
  stateOf,
} from '../ledger/index.js';
import { BareRows, type EqualOrder, equalOrders, sketchHits } from './sketch.js';

/**
 * Rows without references that repeat an order of the last 30 days which is paid or may still be paid. A row that stands
 * in for an order is compared with whatever was sealed or retried since that one, however long ago. Rows are compared as
 * multisets: two equal rows need two such orders. The verdict comes from rows and records, in the store or the archive.
 */
export type Repeats = {
  readonly compared: number;
  readonly count: number;
  /** How many of these stand in for an order: such a row is the same debt, and never meant by chance. */
  readonly standIns: number;
  /** Newest first. */
  readonly batches: readonly RepeatedBatch[];
  /** Archived where this process cannot read, by a version that kept no sketch. */
  readonly unread: readonly BatchId[];
};

type RepeatedBatch = {
  readonly batch: BatchId;
  readonly view: BatchView;
  readonly rows: readonly Repeat[];
};

/** A row of the file and the order it repeats, by their indexes: a million of them are kept. */
type Repeat = readonly [index: number, line: number, order: number];

export const NO_REPEATS: Repeats = { compared: 0, count: 0, standIns: 0, batches: [], unread: [] };

/**
 * The rows of a file to compare, or dead letters. One that stands in for an order of an earlier batch is known by
 * that order: only what was sealed or retried after that batch can have paid it since.
 */
export class ComparedRows {
  private readonly byReplaced = new Map<string | null, BareRows>();
  /** Batches to compare with however old they are, by number: what was cancelled of the same file. */
  whenever: readonly string[] = [];
  /**
   * Whether a sketch alone is no answer: where rows are left out or retried for it, an unpaid one would be called paid.
   * An archive that cannot be read is the end then.
   */
  exact = false;
  /** Under a label all is meant once more, but for what was given under the same label; null: no label. */
  label: string | null = null;
  /** The batch that they are: another terminal may seal it meanwhile. */
  own: BatchId | null = null;

  constructor(
    /** The currency of the rows; in another one they are other payments. */
    readonly currency: string | null,
  ) {}

  get size(): number {
    return this.groups().reduce((sum, [, { size }]) => sum + size, 0);
  }

  add(index: number, line: number, content: ContentWords, replacedNo: string | undefined): void {
    const no = replacedNo ?? null;
    const rows = this.byReplaced.get(no) ?? new BareRows();
    this.byReplaced.set(no, rows);
    rows.add(index, line, content);
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
  groups(): (readonly [replacedNo: string | null, rows: BareRows])[] {
    return [...this.byReplaced];
  }
}

export async function findRepeats(ledger: RealmLedger, rows: ComparedRows, now: number): Promise<Repeats> {
  if (rows.size === 0) return NO_REPEATS;
  const matching = await Promise.all(
    rows.groups().map(async ([no, bare]) => new Matching(no, await sinceOf(ledger, no), bare)),
  );
  const arrivals = await readArrivals(ledger);
  const batches: RepeatedBatch[] = [];
  const unread: BatchId[] = [];
  for (const ref of (await listBatches(ledger)).reverse()) {
    const view = await readBatch(ref);
    if (view === undefined || ref.id === rows.own) continue;
    if (view.manifest.currency !== rows.currency || !mayHavePaid(view)) continue;
    if (rows.label !== null && view.manifest.again !== rows.label) continue;
    const recent = isRecent(view, now) || rows.whenever.includes(ref.no);
    const others = matching.filter(({ no }) => (no === null ? recent : no !== ref.no));
    const retried = others.every((one) => one.precedes(ref, view)) ? NO_RETRIES : await retriedOrders(ref);
    const open = others.filter((one) => one.precedes(ref, view) || retried.size > 0);
    if (open.length === 0) continue;
    const found = await repeatsOf(ref, view, open, retried, arrivals, rows.exact);
    if (found === 'unread') unread.push(ref.id);
    else if (found.length > 0) batches.push({ batch: ref.id, view, rows: found });
  }
  const count = batches.reduce((sum, batch) => sum + batch.rows.length, 0);
  const standIns = matching.reduce((sum, { no, matched }) => sum + (no === null ? 0 : matched), 0);
  return { compared: rows.size, count, standIns, batches, unread };
}

/** Notes which rows of a content an order has matched already. */
class Matching {
  private readonly next: Uint32Array;
  matched = 0;

  constructor(
    /** The batch of the orders that the rows stand in for, and its seal: whatever is older was known to it. */
    readonly no: string | null,
    private readonly since: number,
    readonly rows: BareRows,
  ) {
    this.next = new Uint32Array(rows.contents).map((_, entry) => rows.firstOf(entry));
  }

  /** Compares seals, not the batches' numbers, which are given when an import is opened, perhaps days before. */
  precedes({ no }: BatchRef, { seal }: StoredBatch): boolean {
    if (this.since < seal) return true;
    // 0.1.0 did not count seals: for two batches of its time the number must do.
    return this.since === 0 && Number(this.no) < Number(no);
  }

  /** Whether an order of an older batch, retried at that seal, can have paid what the rows stand for. */
  isMetBy(retriedAt: number | undefined): boolean {
    return retriedAt !== undefined && retriedAt >= this.since;
  }

  /** The first row with this content that no order has matched yet. */
  take(a: number, b: number | null): [index: number, line: number] | undefined {
    const entry = this.rows.find(a, b);
    const row = entry === -1 ? 0 : (this.next[entry] ?? 0);
    if (row === 0) return undefined;
    this.next[entry] = this.rows.after(row);
    this.matched += 1;
    return [this.rows.indexOf(row), this.rows.lineOf(row)];
  }
}

const NO_RETRIES: ReadonlyMap<number, number> = new Map();

/** A batch that was put back knew nothing when it was sealed: all is later. */
const BEFORE_ALL = -1;

async function sinceOf(ledger: RealmLedger, no: string | null): Promise<number> {
  return (no === null ? null : await sealNumber(ledger, no)) ?? BEFORE_ALL;
}

function isRecent({ state, finishedAt, manifest }: BatchView, now: number): boolean {
  if (state !== 'done' && state !== 'cancelled') return true;
  return now - Math.max(manifest.createdAt, finishedAt ?? 0) <= LOOK_BACK_MS;
}

function mayHavePaid({ counts }: BatchView): boolean {
  return [...SPENDING_STATES, 'exhausted' as const].some((state) => (counts[state] ?? 0) > 0);
}

async function repeatsOf(
  ref: BatchRef,
  view: StoredBatch,
  matching: readonly Matching[],
  retried: ReadonlyMap<number, number>,
  arrivals: Arrivals,
  exact: boolean,
): Promise<Repeat[] | 'unread'> {
  const sketch = await readSketch(ref);
  const found: Repeat[] = [];
  const take = (index: number, a: number, b: number | null) => {
    for (const one of matching) {
      const row = one.precedes(ref, view) || one.isMetBy(retried.get(index)) ? one.take(a, b) : undefined;
      if (row !== undefined) {
        found.push([...row, index]);
        return;
      }
    }
  };
  const wanted = matching.map(({ rows }) => rows);
  try {
    for await (const equal of equalOrders(ref, view.manifest.rows, sketch, wanted))
      for (const { index, words } of await payingAmong(ref, view, equal, arrivals)) take(index, ...words);
  } catch (error) {
    if (exact || !isArchiveAway(error)) throw error;
    if (sketch === null) return 'unread';
    // The sketch alone cannot tell what of it was paid: all of it counts.
    for (let block = 0; block * PLAN_BLOCK_ROWS < view.manifest.rows; block++)
      for (const [index, word] of sketchHits(sketch, block, wanted)) take(index, word, null);
  }
  return found;
}

/** Those of equal orders that are paid, and not taken back, or may still be. */
async function payingAmong(
  ref: BatchRef,
  { state, twice }: StoredBatch,
  equal: readonly EqualOrder[],
  arrivals: Arrivals,
): Promise<EqualOrder[]> {
  const paying = equal.filter(({ record }) => {
    const stands = stateOf(record, state === 'cancelled');
    return SPENDING_STATES.some((one) => one === stands) || arrivals.until(record.arrivesUntil) !== null;
  });
  const undone = await undoneAmong(
    ref,
    twice,
    paying.map(({ index }) => index),
  );
  return paying.filter(({ index }) => !undone.has(index));
}

/**
 * Orders that a paid undo has taken back. Not one that was paid twice, or may have been: what was taken back is one
 * payment of two (as in includes/reference.lua).
 */
async function undoneAmong(
  { ledger, id }: BatchRef,
  twice: ReadonlySet<number>,
  among: readonly number[],
): Promise<Set<number>> {
  const indexes = among.filter((index) => !twice.has(index));
  const references = indexes.map((index) => undoReference(orderId(id, index)));
  const holders = await findSpent(ledger, references);
  const undone = new Set<number>();
  for (const [at, index] of indexes.entries()) {
    const holder = holders.get(references[at] ?? '');
    if (holder !== undefined && stateOf(await readRecord({ ledger, no: holder.no }, holder.index)) === 'paid')
      undone.add(index);
  }
  return undone;
}
