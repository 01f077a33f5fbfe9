import { inflateRawSync } from 'node:zlib';
import type { OrderState } from '../../core/states.js';
import {
  type BatchSource,
  BLOCK_ORDERS,
  batchSource,
  decodePlanBlock,
  decodeRecord,
  hasTrouble,
  type OrderRecord,
  PLAN_BLOCK_ROWS,
  type PlanRow,
  type RowContext,
  type RowView,
  readDetails,
  rowView,
  stateOf,
} from '../../ledger/index.js';
import type { OrdersQuery } from '../api/index.js';

/** What is looked for among the rows of a batch, taken apart by where it is written: plan, record or details. */
export type Wanted = {
  readonly state: OrderState | null;
  readonly class: string | null;
  readonly search: Search | null;
};

type Search = {
  readonly text: string;
  /** Whether a row of the plan has it; null when only errors are searched. */
  readonly inPlan: ((row: PlanRow) => boolean) | null;
  readonly inErrors: boolean;
};

export function wantedOf(query: OrdersQuery): Wanted {
  return { state: query.state ?? null, class: query.class ?? null, search: searchOf(query) };
}

function searchOf({ search, field = 'any' }: OrdersQuery): Search | null {
  const text = search?.trim() ?? '';
  if (text === '') return null;
  switch (field) {
    case 'member':
      return { text, inErrors: false, inPlan: ({ order }) => order?.member === text };
    case 'recipient':
      return { text, inErrors: false, inPlan: ({ order }) => order?.recipient === text };
    case 'reference':
      return { text, inErrors: false, inPlan: ({ reference }) => reference === text };
    case 'line':
      return { text, inErrors: false, inPlan: ({ line }) => String(line) === text };
    case 'error':
      return { text, inErrors: true, inPlan: null };
    case 'any':
      return { text, inErrors: true, inPlan: ({ cells }) => cells.some((cell) => includes(cell, text)) };
  }
}

/** Every order that ever touched a member. */
export function wantMember(member: string): Wanted {
  const inPlan = ({ order }: PlanRow) => order?.member === member || order?.recipient === member;
  return { state: null, class: null, search: { text: member, inErrors: false, inPlan } };
}

export function includes(text: string | null, part: string): boolean {
  return text?.toLowerCase().includes(part.toLowerCase()) ?? false;
}

/** Only these can carry an error, so only their details are worth reading. */
function mayHaveError(record: OrderRecord): boolean {
  return hasTrouble(record) || ['invalid', 'duplicate'].includes(stateOf(record));
}

/**
 * Looks through a batch in file order, a block of some hundred rows at a time, and stops when it has enough
 * or has looked long enough: a million rows are searched by asking again with the place it stopped at. Each
 * call to Redis is a small one, so that nothing else waits behind a search.
 */
export type Scanned = { readonly found: readonly RowView[]; readonly next: number | null };
export type ScanBounds = { readonly from: number; readonly limit: number; readonly untilMs: number };

const VIEWS_AT_ONCE = 64;

export async function scanBlocks(
  context: RowContext,
  rows: number,
  wanted: Wanted,
  options: ScanBounds,
): Promise<Scanned> {
  const found: RowView[] = [];
  const source = await batchSource(context.ref);
  let from = options.from;
  do {
    const block = Math.floor((from - 1) / PLAN_BLOCK_ROWS);
    const to = Math.min((block + 1) * PLAN_BLOCK_ROWS, rows);
    found.push(
      ...(await matchesIn(context, source, block, { from, to }, wanted, options.limit - found.length)),
    );
    const last = found.at(-1);
    if (found.length >= options.limit && last !== undefined)
      return { found, next: last.index < rows ? last.index + 1 : null };
    from = to + 1;
  } while (from <= rows && performance.now() < options.untilMs);
  return { found, next: from <= rows ? from : null };
}

async function matchesIn(
  context: RowContext,
  source: BatchSource,
  block: number,
  span: { readonly from: number; readonly to: number },
  wanted: Wanted,
  limit: number,
): Promise<RowView[]> {
  const { search } = wanted;
  const inPlan = search === null ? null : await planHits(source, block, search);
  if (inPlan?.size === 0 && search?.inErrors !== true) return [];
  const records = await recordsOf(source, block);
  const candidates: { index: number; record: OrderRecord; certain: boolean }[] = [];
  for (let index = span.from; index <= span.to; index++) {
    const record = records.get(index) ?? decodeRecord(null);
    if (wanted.state !== null && stateOf(record, context.cancelled) !== wanted.state) continue;
    const certain = inPlan === null || inPlan.has(index);
    const mayErr = mayHaveError(record);
    if ((!certain || wanted.class !== null) && !mayErr) continue;
    if (!certain && search?.inErrors !== true) continue;
    candidates.push({ index, record, certain });
  }
  const found: RowView[] = [];
  while (candidates.length > 0 && found.length < limit) {
    const some = candidates.splice(0, Math.min(VIEWS_AT_ONCE, limit - found.length));
    const views = await Promise.all(some.map(({ index, record }) => view(context, index, record)));
    for (const [i, row] of views.entries()) {
      if (wanted.class !== null && row.errorCode !== wanted.class) continue;
      if (some[i]?.certain || includes(row.error, search?.text ?? '')) found.push(row);
    }
  }
  return found;
}

async function view(context: RowContext, index: number, record: OrderRecord): Promise<RowView> {
  const [row, details] = await Promise.all([
    context.plans.row(context.ref.no, index),
    mayHaveError(record) ? readDetails(context.ref, index) : [],
  ]);
  return rowView(context, index, row, record, details);
}

/** Indexes of the block's rows that have it; a block that cannot have it is not even parsed. */
async function planHits(source: BatchSource, block: number, search: Search): Promise<Set<number>> {
  const { inPlan } = search;
  if (inPlan === null) return new Set();
  const bytes = await source.plan(block);
  if (bytes === null) return new Set();
  const needle = JSON.stringify(search.text).slice(1, -1);
  if (!includes(inflateRawSync(bytes).toString('utf8'), needle)) return new Set();
  const hits = decodePlanBlock(bytes).flatMap((row, offset) =>
    inPlan(row) ? [block * PLAN_BLOCK_ROWS + offset + 1] : [],
  );
  return new Set(hits);
}

async function recordsOf(source: BatchSource, block: number): Promise<Map<number, OrderRecord>> {
  const perBlock = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
  const read = await Promise.all(
    Array.from({ length: perBlock }, (_, i) => source.records(block * perBlock + i)),
  );
  const records = new Map<number, OrderRecord>();
  for (const hash of read)
    for (const [index, text] of Object.entries(hash)) records.set(Number(index), decodeRecord(text));
  return records;
}
