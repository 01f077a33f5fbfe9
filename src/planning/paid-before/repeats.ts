import { type BatchId, orderId } from '../../core/ids.js';
import type { ContentWords } from '../../core/reference.js';
import { SPENDING_STATES } from '../../core/states.js';
import {
  type BatchRef,
  type BatchView,
  PLAN_BLOCK_ROWS,
  planning,
  type RealmLedger,
  readBatch,
  reading,
  type StoredBatch,
} from '../../ledger/index.js';
import { comparedWith } from './compared-batches.js';
import type { ComparedRows, RowGroups } from './compared-rows.js';
import { type BareRows, type EqualOrder, equalOrders, equalOrigins, sketchHits } from './sketch.js';

/**
 * Rows without references that repeat an order of the last 30 days which is paid or may still be paid. A row that stands
 * in for an order is compared with whatever was sealed or retried since that one, however long ago. Rows are compared as
 * multisets: two equal rows need two such orders. The verdict comes from rows and records, in the store or the archive.
 */
export type Repeats = {
  readonly compared: number;
  readonly count: number;
  /** How many are orders to another member: the table of members was another one then. */
  readonly elsewhere: number;
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

export const NO_REPEATS: Repeats = {
  compared: 0,
  count: 0,
  standIns: 0,
  elsewhere: 0,
  batches: [],
  unread: [],
};

export async function findRepeats(ledger: RealmLedger, rows: ComparedRows, now: number): Promise<Repeats> {
  if (rows.size === 0) return NO_REPEATS;
  const matching = await matchingOf(ledger, rows, rows.groups());
  const byOrigin = await matchingOf(ledger, rows, rows.originGroups());
  const arrivals = await planning.earlier.arrivals(ledger);
  const batches: RepeatedBatch[] = [];
  const unread: BatchId[] = [];
  const tabled: Compared[] = [];
  const sinces = [...matching, ...byOrigin].flatMap(({ no, since }) => (no === null ? [] : since));
  const candidates = await comparedWith(ledger, { whenever: rows.whenever, sinces, now });
  for (const ref of candidates) {
    const view = await readBatch(ref);
    if (view === undefined || ref.id === rows.own || !mayHavePaid(view)) continue;
    if (rows.label !== null && view.manifest.again !== rows.label) continue;
    const recent = isRecent(view, now) || rows.whenever.includes(ref.no);
    const batch = { ref, view, arrivals, exact: rows.exact };
    if (view.manifest.table !== null)
      tabled.push({ ...batch, ...(await openTo(ref, view, recent, byOrigin)) });
    const found = await repeatsOf({ ...batch, ...(await openTo(ref, view, recent, matching)) });
    if (found === 'unread') unread.push(ref.id);
    else if (found.length > 0) batches.push({ batch: ref.id, view, rows: found });
  }
  const elsewhere = await addOrigins(tabled, batches, unread);
  const count = batches.reduce((sum, batch) => sum + batch.rows.length, 0);
  const standIns = matching.reduce((sum, { no, matched }) => sum + (no === null ? 0 : matched), 0);
  return { compared: rows.size, count, standIns, elsewhere, batches, unread };
}

function matchingOf(ledger: RealmLedger, { passed }: ComparedRows, groups: RowGroups): Promise<Matching[]> {
  const since = (no: string | null) => sinceOf(ledger, no);
  return Promise.all(groups.map(async ([no, bare]) => new Matching(no, await since(no), bare, passed)));
}

type Arrivals = Awaited<ReturnType<typeof planning.earlier.arrivals>>;

/** A batch, and the rows that its orders may have paid. */
type Compared = {
  readonly ref: BatchRef;
  readonly view: StoredBatch;
  readonly open: readonly Matching[];
  readonly retried: ReadonlyMap<number, number>;
  readonly arrivals: Arrivals;
  readonly exact: boolean;
};

async function openTo(ref: BatchRef, view: StoredBatch, recent: boolean, matching: readonly Matching[]) {
  const others = matching.filter(({ no }) => (no === null ? recent : no !== ref.no));
  const retried = others.every((one) => one.precedes(view))
    ? NO_RETRIES
    : await planning.earlier.retriedOrders(ref);
  return { open: others.filter((one) => one.precedes(view) || retried.size > 0), retried };
}

/** Notes which rows of a content an order has matched already. */
class Matching {
  private readonly next: Uint32Array;
  matched = 0;

  constructor(
    /** The batch of the orders that the rows stand in for, and its seal: whatever is older was known to it. */
    readonly no: string | null,
    readonly since: number,
    readonly rows: BareRows,
    /** Rows that are not compared, by index. */
    private readonly passed: ReadonlySet<number>,
  ) {
    this.next = new Uint32Array(rows.contents).map((_, entry) => rows.firstOf(entry));
  }

  /** Compares seals, not the batches' numbers, which are given when an import is opened, perhaps days before. */
  precedes({ seal }: StoredBatch): boolean {
    return this.since < seal;
  }

  /** Whether an order of an older batch, retried at that seal, can have paid what the rows stand for. */
  isMetBy(retriedAt: number | undefined): boolean {
    return retriedAt !== undefined && retriedAt >= this.since;
  }

  /** The first row with this content that no order has matched yet, passing over those that are met already. */
  takeOther(words: ContentWords, met: ReadonlySet<number>): [index: number, line: number] | undefined {
    for (;;) {
      const row = this.take(...words);
      if (row === undefined || !met.has(row[0])) return row;
    }
  }

  /** The first row with this content that no order has matched yet. */
  take(a: number, b: number | null): [index: number, line: number] | undefined {
    const entry = this.rows.find(a, b);
    if (entry === -1) return undefined;
    let row = this.next[entry] ?? 0;
    while (row !== 0 && this.passed.has(this.rows.indexOf(row))) row = this.rows.after(row);
    this.next[entry] = row === 0 ? 0 : this.rows.after(row);
    if (row === 0) return undefined;
    this.matched += 1;
    return [this.rows.indexOf(row), this.rows.lineOf(row)];
  }
}

const NO_RETRIES: ReadonlyMap<number, number> = new Map();

/** A batch that was put back knew nothing when it was sealed: all is later. */
const BEFORE_ALL = -1;

async function sinceOf(ledger: RealmLedger, no: string | null): Promise<number> {
  return (no === null ? null : await planning.earlier.sealNumber(ledger, no)) ?? BEFORE_ALL;
}

function isRecent({ state, finishedAt, manifest }: BatchView, now: number): boolean {
  if (state !== 'done' && state !== 'cancelled') return true;
  return now - Math.max(manifest.createdAt, finishedAt ?? 0) <= planning.earlier.lookBackMs;
}

function mayHavePaid({ counts, late }: StoredBatch): boolean {
  const paying = [...SPENDING_STATES, 'exhausted' as const].some((state) => (counts[state] ?? 0) > 0);
  return paying || late.size > 0;
}

async function repeatsOf(batch: Compared): Promise<Repeat[] | 'unread'> {
  const { ref, view, open, retried, arrivals, exact } = batch;
  if (open.length === 0) return [];
  const { contents: sketch } = await planning.sketches.read(ref, view.lastIndex);
  const found: Repeat[] = [];
  const take = (index: number, a: number, b: number | null) => {
    for (const one of open) {
      const row = one.precedes(view) || one.isMetBy(retried.get(index)) ? one.take(a, b) : undefined;
      if (row !== undefined) {
        found.push([...row, index]);
        return;
      }
    }
  };
  const wanted = open.map(({ rows }) => rows);
  try {
    for await (const equal of equalOrders(ref, view.lastIndex, sketch, wanted))
      for (const { index, words } of await payingAmong(ref, view, equal, arrivals)) take(index, ...words);
  } catch (error) {
    if (exact || !reading.isArchiveAway(error)) throw error;
    if (sketch === null) return 'unread';
    // The sketch alone cannot tell what of it was paid: all of it counts.
    for (let block = 0; block * PLAN_BLOCK_ROWS < view.lastIndex; block++)
      for (const [index, word] of sketchHits(sketch, block, wanted)) take(index, word, null);
  }
  return found;
}

/**
 * Rows that an earlier file had as this one has them, under a table that has been corrected since: other orders, to
 * other members, and the same debts. What was found by its content is left to that. Answers how many there are.
 */
async function addOrigins(
  tabled: readonly Compared[],
  batches: RepeatedBatch[],
  unread: BatchId[],
): Promise<number> {
  const met = new Set(batches.flatMap(({ rows }) => rows.map(([index]) => index)));
  let elsewhere = 0;
  for (const batch of tabled) {
    const { ref, view, open, exact } = batch;
    const at = batches.findIndex((one) => one.batch === ref.id);
    const known = batches[at]?.rows ?? [];
    try {
      const found = open.length === 0 ? [] : await originsOf(batch, known, met);
      elsewhere += found.length;
      if (found.length === 0) continue;
      if (at === -1) batches.push({ batch: ref.id, view, rows: found });
      else batches[at] = { batch: ref.id, view, rows: [...known, ...found] };
    } catch (error) {
      if (exact || !reading.isArchiveAway(error)) throw error;
      if (!unread.includes(ref.id)) unread.push(ref.id);
    }
  }
  return elsewhere;
}

async function originsOf(
  { ref, view, open, retried, arrivals }: Compared,
  known: readonly Repeat[],
  met: Set<number>,
): Promise<Repeat[]> {
  const orders = new Set(known.map(([, , order]) => order));
  const found: Repeat[] = [];
  const wanted = open.map(({ rows }) => rows);
  for await (const equal of equalOrigins(ref, view, wanted)) {
    const left = equal.filter(({ index }) => !orders.has(index));
    for (const { index, words } of await payingAmong(ref, view, left, arrivals)) {
      for (const one of open) {
        const isOpen = one.precedes(view) || one.isMetBy(retried.get(index));
        const row = isOpen ? one.takeOther(words, met) : undefined;
        if (row === undefined) continue;
        met.add(row[0]);
        found.push([...row, index]);
        break;
      }
    }
  }
  return found;
}

type Judged = Pick<EqualOrder, 'index' | 'record' | 'words'>;

/** Those of equal orders that are paid, and not taken back, or may still be. */
async function payingAmong(
  ref: BatchRef,
  { state, twice, late }: StoredBatch,
  equal: readonly Judged[],
  arrivals: Arrivals,
): Promise<Judged[]> {
  const paying = equal.filter(({ index, record }) => {
    if (late.has(index)) return true;
    const stands = reading.orders.stateOf(record, state === 'cancelled');
    return SPENDING_STATES.some((one) => one === stands) || arrivals.until(record.arrivesUntil) !== null;
  });
  const undone = await undoneAmong(ref, twice, paying);
  return paying.filter(({ index }) => !undone.has(index));
}

/**
 * Orders that a paid undo has taken back. Not one that was paid twice, or may have been: what was taken back is one
 * payment of two (as in includes/reference.lua).
 */
async function undoneAmong(
  { ledger, id }: BatchRef,
  twice: ReadonlySet<number>,
  among: readonly Judged[],
): Promise<Set<number>> {
  const indexes = among.map(({ index }) => index).filter((index) => !twice.has(index));
  const undone = await planning.earlier.areUndone(
    ledger,
    indexes.map((index) => orderId(id, index)),
  );
  return new Set(indexes.filter((_, at) => undone[at]));
}
