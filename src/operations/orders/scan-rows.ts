import { AlmonerError } from '../../core/errors/error.js';
import type { OrderState } from '../../core/states.js';
import {
  type BatchRef,
  lists,
  type OrderRecord,
  PLAN_BLOCK_ROWS,
  type PlanRow,
  type RowView,
  readBatch,
  reading,
  type ScriptClient,
  type StoredBatch,
} from '../../ledger/index.js';
import { contextOf } from '../orders/find-orders.js';

/**
 * Looking for rows without an index: it would cost every paid order its bytes for questions that are asked now and
 * then. Blocks are read some at a time from the store or the archive, and memory does not grow with them.
 */

/** What is looked for among the rows of a batch, taken apart by where it is written: plan, record or details. */
export type Wanted = {
  readonly state: OrderState | null;
  readonly class: string | null;
  readonly search: Search | null;
};

export type Search = {
  readonly inPlan: {
    /** Whether an inflated block can have it; one that cannot is not even parsed. */
    readonly mayHold: (plan: reading.PlanText) => boolean;
    readonly has: (row: PlanRow) => boolean;
  } | null;
  readonly inRecord: ((record: OrderRecord) => boolean) | null;
  /** A part of what went wrong, whatever its case. */
  readonly inErrors: string | null;
};

/** Every order that ever touched a member. */
export function wantMember(member: string): Wanted {
  const has = ({ order }: PlanRow) => order?.member === member || order?.recipient === member;
  const inPlan = { mayHold: (plan: reading.PlanText) => plan.mayMention(member), has };
  return { state: null, class: null, search: { inPlan, inRecord: null, inErrors: null } };
}

export function includes(text: string | null, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

/** Only these can carry an error, so only their details are worth reading. */
function mayHaveError(record: OrderRecord): boolean {
  return (
    reading.orders.hasTrouble(record) || ['invalid', 'duplicate'].includes(reading.orders.stateOf(record))
  );
}

export type Scanned = { readonly found: readonly RowView[]; readonly next: number | null };
export type ScanBounds = {
  readonly from: number;
  readonly limit: number;
  readonly untilMs: number;
  readonly onScanned?: (rows: number) => void;
};

const BLOCKS_AT_ONCE = 8;
const VIEWS_AT_ONCE = 64;

/**
 * Looks through a batch in file order, and stops when it has enough or has looked long enough: a million rows are
 * searched by asking again with the place it stopped at. Each call to Redis is a small one, so that nothing else waits
 * behind a search.
 */
export async function scanRows(
  context: reading.RowContext,
  rows: number,
  wanted: Wanted,
  { from: start, limit, untilMs, onScanned }: ScanBounds,
): Promise<Scanned> {
  const found: RowView[] = [];
  const source = await reading.BatchBlocks.open(context.ref);
  const readsPlan = (wanted.search?.inPlan ?? null) !== null;
  const blocks = Math.ceil(rows / PLAN_BLOCK_ROWS);
  let from = start;
  do {
    const first = Math.floor((from - 1) / PLAN_BLOCK_ROWS);
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, blocks - first) }, (_, i) => first + i);
    const plans = readsPlan
      ? await Promise.all(numbers.map((block) => readPlan(context, source, block)))
      : [];
    for (const [i, block] of numbers.entries()) {
      const to = Math.min((block + 1) * PLAN_BLOCK_ROWS, rows);
      const inBlock = { source, block, plan: plans[i] ?? null, from, to };
      found.push(...(await matchesIn(context, inBlock, wanted, limit - found.length)));
      const last = found.at(-1);
      if (found.length >= limit && last !== undefined)
        return { found, next: last.index < rows ? last.index + 1 : null };
      from = to + 1;
    }
    onScanned?.(from - 1);
  } while (from <= rows && performance.now() < untilMs);
  return { found, next: from <= rows ? from : null };
}

/** A block that is gone is never skipped. */
async function readPlan(
  { ref }: reading.RowContext,
  source: reading.BatchBlocks,
  block: number,
): Promise<reading.PlanText> {
  const plan = await source.plan(block);
  if (plan !== null) return plan;
  throw new AlmonerError(
    'ALM_LEDGER_PLAN_MISSING',
    `Block ${block} of the plan of batch ${ref.id} is missing.`,
  );
}

type InBlock = {
  readonly source: reading.BatchBlocks;
  readonly block: number;
  readonly plan: reading.PlanText | null;
  readonly from: number;
  readonly to: number;
};

async function matchesIn(
  context: reading.RowContext,
  { source, block, plan, from, to }: InBlock,
  wanted: Wanted,
  limit: number,
): Promise<RowView[]> {
  const { state, class: code, search } = wanted;
  const hits = search?.inPlan == null || plan === null ? null : planHits(plan, block, search.inPlan);
  const onlyPlan = search !== null && search.inErrors === null && search.inRecord === null;
  if (onlyPlan && hits?.size === 0) return [];
  const recordOf = await source.records(block);
  const candidates: { index: number; record: OrderRecord; certain: boolean }[] = [];
  for (let index = from; index <= to; index++) {
    const record = recordOf(index);
    if (state !== null && reading.orders.stateOf(record, context.cancelled) !== state) continue;
    const certain = search === null || hits?.has(index) === true || search.inRecord?.(record) === true;
    if (!certain && search?.inErrors === null) continue;
    if ((!certain || code !== null) && !mayHaveError(record)) continue;
    candidates.push({ index, record, certain });
  }
  const found: RowView[] = [];
  while (candidates.length > 0 && found.length < limit) {
    const some = candidates.splice(0, Math.min(VIEWS_AT_ONCE, limit - found.length));
    const views = await Promise.all(some.map(({ index, record }) => view(context, index, record)));
    found.push(
      ...views.flatMap((row, i) => (row !== null && fits(row, wanted, some[i]?.certain) ? [row] : [])),
    );
  }
  return found;
}

/** `certain`: what is searched for was found in its plan or record, or nothing is. */
export function fits(
  { errorCode, error }: RowView,
  { class: code, search }: Wanted,
  certain = search === null,
): boolean {
  return (code === null || errorCode === code) && (certain || includes(error, search?.inErrors ?? ''));
}

/** Null where nobody knows the row of a recovered batch. */
async function view(
  context: reading.RowContext,
  index: number,
  record: OrderRecord,
): Promise<RowView | null> {
  const [rows, details] = await Promise.all([
    context.plans.block(context.ref.no, Math.floor((index - 1) / PLAN_BLOCK_ROWS)),
    mayHaveError(record) ? reading.orders.details(context.ref, index) : [],
  ]);
  const row = rows[(index - 1) % PLAN_BLOCK_ROWS] ?? reading.orders.unknownRow;
  return row === reading.orders.unknownRow
    ? null
    : reading.orders.view(context, index, row, { record, details });
}

/** Indexes of the block's rows that have it. */
function planHits(
  plan: reading.PlanText,
  block: number,
  { mayHold, has }: NonNullable<Search['inPlan']>,
): ReadonlySet<number> {
  if (!mayHold(plan)) return new Set();
  const hits = plan.rows().flatMap((row, offset) => (has(row) ? [block * PLAN_BLOCK_ROWS + offset + 1] : []));
  return new Set(hits);
}

/** A sealed batch, with what the books say of it as a whole. */
export type SealedBatch = { readonly ref: BatchRef; readonly view: StoredBatch };

/** Those of all realms, or of one by its name or id, newest first, from a place on; read page by page. */
export async function* sealedBatches(
  scripts: ScriptClient,
  { realm, from }: { readonly realm?: string | undefined; readonly from?: string | undefined } = {},
): AsyncGenerator<SealedBatch> {
  let page: BatchRef[] = [];
  for await (const ref of lists.batchesOfAll(scripts, { realm, from })) {
    page.push(ref);
    if (page.length < BATCHES_AT_ONCE) continue;
    yield* await viewsOf(page);
    page = [];
  }
  yield* await viewsOf(page);
}

const BATCHES_AT_ONCE = 50;

async function viewsOf(refs: readonly BatchRef[]): Promise<SealedBatch[]> {
  const views = await Promise.all(refs.map((ref) => readBatch(ref)));
  return refs.flatMap((ref, at) => {
    const view = views[at];
    return view === undefined ? [] : [{ ref, view }];
  });
}

/** How many rows there are to look through. */
export async function rowsOfAll(scripts: ScriptClient, realm?: string): Promise<number> {
  const counts = await Promise.all((await lists.ledgersNamed(scripts, realm)).map(lists.countBatches));
  return counts.reduce((sum, { rows }) => sum + rows, 0);
}

/** Where a scan of many batches goes on: a batch, the index of a row in it, and how many rows were passed by then. */
export type ScanPlace = { readonly place: string; readonly index: number; readonly scanned: number };

export type BatchesScanned = {
  readonly found: readonly { readonly ref: BatchRef; readonly row: RowView }[];
  readonly next: ScanPlace | null;
  readonly scanned: number;
};

export type BatchesBounds = Omit<ScanBounds, 'from' | 'onScanned'> & {
  readonly from: ScanPlace | null;
  readonly onScanned?: (rows: number) => void;
  /** An archive that is missing or damaged; without this it ends the search. */
  readonly onUnread?: (ref: BatchRef, error: AlmonerError) => void;
};

/** The same over many batches, in the order given, which begins at `from`; `wantedOf` tells what to look for in each, or null. */
export async function scanBatches(
  batches: AsyncIterable<SealedBatch>,
  wantedOf: (batch: SealedBatch) => Wanted | null,
  { from: start, limit, untilMs, onScanned, onUnread }: BatchesBounds,
): Promise<BatchesScanned> {
  const found: { ref: BatchRef; row: RowView }[] = [];
  let scanned = start?.scanned ?? 0;
  let isFirst = true;
  for await (const { ref, view } of batches) {
    const from = isFirst ? (start?.index ?? 1) : 1;
    const isOver = !isFirst && (found.length >= limit || performance.now() >= untilMs);
    if (isOver) return { found, next: { place: lists.placeOf(ref), index: from, scanned }, scanned };
    isFirst = false;
    const wanted = wantedOf({ ref, view });
    const before = scanned - (from - 1);
    let next: number | null = null;
    if (wanted !== null) {
      const tell = (done: number) => onScanned?.(before + done);
      const bounds = { from, limit: limit - found.length, untilMs, onScanned: tell };
      const part = await scanRows(await contextOf(ref), view.lastIndex, wanted, bounds).catch(
        (error: unknown) => {
          if (onUnread === undefined || !reading.isArchiveAway(error)) throw error;
          onUnread(ref, error);
          return { found: [], next: null };
        },
      );
      found.push(...part.found.map((row) => ({ ref, row })));
      next = part.next;
    }
    scanned = before + (next === null ? view.lastIndex : next - 1);
    if (next !== null) return { found, next: { place: lists.placeOf(ref), index: next, scanned }, scanned };
  }
  return { found, next: null, scanned };
}
