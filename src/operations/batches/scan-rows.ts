import { AlmonerError } from '../../core/errors/error.js';
import type { OrderState } from '../../core/states.js';
import {
  type BatchRef,
  type BatchSource,
  batchSource,
  decodeRecord,
  everyBatch,
  hasTrouble,
  inflatePlanBlock,
  isArchiveAway,
  mayMention,
  type OrderRecord,
  PLAN_BLOCK_ROWS,
  type PlanRow,
  parsePlanBlock,
  type RowContext,
  type RowView,
  readBatch,
  readDetails,
  recordsOfBlock,
  rowView,
  type ScriptClient,
  type StoredBatch,
  stateOf,
  UNKNOWN_ROW,
} from '../../ledger/index.js';
import { contextOf } from './find-orders.js';

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
    readonly mayHold: (inflated: Buffer) => boolean;
    readonly has: (row: PlanRow) => boolean;
  } | null;
  readonly inRecord: ((record: OrderRecord) => boolean) | null;
  /** A part of what went wrong, whatever its case. */
  readonly inErrors: string | null;
};

/** Every order that ever touched a member. */
export function wantMember(member: string): Wanted {
  const has = ({ order }: PlanRow) => order?.member === member || order?.recipient === member;
  const inPlan = { mayHold: (block: Buffer) => mayMention(block, member), has };
  return { state: null, class: null, search: { inPlan, inRecord: null, inErrors: null } };
}

export function includes(text: string | null, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

/** Only these can carry an error, so only their details are worth reading. */
function mayHaveError(record: OrderRecord): boolean {
  return hasTrouble(record) || ['invalid', 'duplicate'].includes(stateOf(record));
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
  context: RowContext,
  rows: number,
  wanted: Wanted,
  { from: start, limit, untilMs, onScanned }: ScanBounds,
): Promise<Scanned> {
  const found: RowView[] = [];
  const source = await batchSource(context.ref);
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
      const inBlock = { block, plan: plans[i] ?? null, from, to };
      found.push(...(await matchesIn(context, source, inBlock, wanted, limit - found.length)));
      const last = found.at(-1);
      if (found.length >= limit && last !== undefined)
        return { found, next: last.index < rows ? last.index + 1 : null };
      from = to + 1;
    }
    onScanned?.(from - 1);
  } while (from <= rows && performance.now() < untilMs);
  return { found, next: from <= rows ? from : null };
}

/** A batch that is archived while it is looked through goes on in its archive: a block that is gone is never skipped. */
async function readPlan({ ref }: RowContext, source: BatchSource, block: number): Promise<Buffer> {
  const bytes = (await source.plan(block)) ?? (await (await batchSource(ref)).plan(block));
  if (bytes !== null) return inflatePlanBlock(bytes);
  throw new AlmonerError(
    'ALM_LEDGER_PLAN_MISSING',
    `Block ${block} of the plan of batch ${ref.id} is missing.`,
  );
}

type InBlock = {
  readonly block: number;
  readonly plan: Buffer | null;
  readonly from: number;
  readonly to: number;
};

async function matchesIn(
  context: RowContext,
  source: BatchSource,
  { block, plan, from, to }: InBlock,
  wanted: Wanted,
  limit: number,
): Promise<RowView[]> {
  const { state, class: code, search } = wanted;
  const hits = search?.inPlan == null || plan === null ? null : planHits(plan, block, search.inPlan);
  const onlyPlan = search !== null && search.inErrors === null && search.inRecord === null;
  if (onlyPlan && hits?.size === 0) return [];
  const records = await recordsOfBlock(source, block);
  const candidates: { index: number; record: OrderRecord; certain: boolean }[] = [];
  for (let index = from; index <= to; index++) {
    const record = decodeRecord(records[String(index)]);
    if (state !== null && stateOf(record, context.cancelled) !== state) continue;
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
async function view(context: RowContext, index: number, record: OrderRecord): Promise<RowView | null> {
  const [rows, details] = await Promise.all([
    context.plans.block(context.ref.no, Math.floor((index - 1) / PLAN_BLOCK_ROWS)),
    mayHaveError(record) ? readDetails(context.ref, index) : [],
  ]);
  const row = rows[(index - 1) % PLAN_BLOCK_ROWS] ?? UNKNOWN_ROW;
  return row === UNKNOWN_ROW ? null : rowView(context, index, row, record, details);
}

/** Indexes of the block's rows that have it. */
function planHits(
  plan: Buffer,
  block: number,
  { mayHold, has }: NonNullable<Search['inPlan']>,
): ReadonlySet<number> {
  if (!mayHold(plan)) return new Set();
  const hits = parsePlanBlock(plan).flatMap((row, offset) =>
    has(row) ? [block * PLAN_BLOCK_ROWS + offset + 1] : [],
  );
  return new Set(hits);
}

/** A sealed batch, with what the books say of it as a whole. */
export type SealedBatch = { readonly ref: BatchRef; readonly view: StoredBatch };

/** Those of all realms, or of one by its name or id, newest first. */
export async function sealedBatches(scripts: ScriptClient, realm?: string): Promise<SealedBatch[]> {
  const refs = await everyBatch(scripts, realm);
  const read = await Promise.all(refs.map(async (ref) => ({ ref, view: await readBatch(ref) })));
  return read
    .flatMap(({ ref, view }) => (view === undefined ? [] : [{ ref, view }]))
    .sort(
      (a, b) =>
        b.view.manifest.createdAt - a.view.manifest.createdAt ||
        Number(b.ref.no) - Number(a.ref.no) ||
        (a.ref.ledger.id < b.ref.ledger.id ? -1 : 1),
    );
}

/** Where a scan of many batches goes on: a batch, and the index of a row in it. */
export type ScanPlace = { readonly place: string; readonly index: number };

export function placeOf({ ledger, no }: BatchRef): string {
  return `${ledger.id}.${no}`;
}

export type BatchesScanned = {
  readonly found: readonly { readonly ref: BatchRef; readonly row: RowView }[];
  readonly next: ScanPlace | null;
  readonly scanned: number;
  readonly of: number;
};

export type BatchesBounds = Omit<ScanBounds, 'from' | 'onScanned'> & {
  readonly from: ScanPlace | null;
  readonly onScanned?: (rows: number, of: number) => void;
  /** An archive that is missing or damaged; without this it ends the search. */
  readonly onUnread?: (ref: BatchRef, error: AlmonerError) => void;
};

/** The same over many batches, in the order given; `wantedOf` tells what to look for in each, or null. */
export async function scanBatches(
  batches: readonly SealedBatch[],
  wantedOf: (batch: SealedBatch) => Wanted | null,
  { from: start, limit, untilMs, onScanned, onUnread }: BatchesBounds,
): Promise<BatchesScanned> {
  const todo = batches.flatMap(({ ref, view }) => {
    const wanted = wantedOf({ ref, view });
    return wanted === null ? [] : [{ ref, wanted, rows: view.lastIndex }];
  });
  const of = todo.reduce((sum, { rows }) => sum + rows, 0);
  const at = start === null ? 0 : todo.findIndex(({ ref }) => placeOf(ref) === start.place);
  if (at < 0)
    throw new AlmonerError(
      'ALM_DESK_BAD_REQUEST',
      'The cursor names a batch that is not among those searched any more. Nothing was done.',
      { next: 'Begin the search again, without a cursor.' },
    );
  let scanned = todo.slice(0, at).reduce((sum, { rows }) => sum + rows, 0);
  const found: { ref: BatchRef; row: RowView }[] = [];
  for (const [i, { ref, wanted, rows }] of todo.slice(at).entries()) {
    const from = i === 0 ? (start?.index ?? 1) : 1;
    const isOver = i > 0 && (found.length >= limit || performance.now() >= untilMs);
    if (isOver) return { found, next: { place: placeOf(ref), index: from }, scanned, of };
    const before = scanned;
    const tell = (done: number) => onScanned?.(before + done, of);
    const bounds = { from, limit: limit - found.length, untilMs, onScanned: tell };
    const part = await scanRows(await contextOf(ref), rows, wanted, bounds).catch((error: unknown) => {
      if (onUnread === undefined || !isArchiveAway(error)) throw error;
      onUnread(ref, error);
      return { found: [], next: null };
    });
    found.push(...part.found.map((row) => ({ ref, row })));
    scanned += part.next === null ? rows : part.next - 1;
    if (part.next !== null) return { found, next: { place: placeOf(ref), index: part.next }, scanned, of };
  }
  return { found, next: null, scanned, of };
}
