import type { z } from 'zod';
import {
  PLAN_BLOCK_ROWS,
  type PlanRow,
  type RowView,
  reading,
  type ScriptClient,
  type StoredBatch,
} from '../../ledger/index.js';
import { Find, foundOrder } from '../../operations/orders/find.js';
import { orderRow } from '../../operations/orders/order-row.js';
import {
  fits,
  includes,
  rowsOfAll,
  type ScanBounds,
  type Scanned,
  type ScanPlace,
  type Search,
  scanBatches,
  scanRows,
  sealedBatches,
  type Wanted,
  wantMember,
} from '../../operations/orders/scan-rows.js';
import type {
  FindOrdersPage,
  FindOrdersQuery,
  FindQuery,
  FindReply,
  HistoryPage,
  HistoryQuery,
  OrdersPage,
  OrdersQuery,
} from '../api/index.js';
import { parseScanCursor } from './paging.js';

/**
 * How long one request scans. A cursor is the index to continue from. A line is found by binary search; states of the
 * attention list are read from that list; any other filter is a scan that stops after this time and continues with
 * the next request.
 */
const LOOK_MS = 250;
const LIMIT_USUAL = 50;

/** One page of a batch's orders, by state, line or search. */
export async function ordersPage(
  context: reading.RowContext,
  view: StoredBatch,
  query: OrdersQuery,
): Promise<OrdersPage> {
  const { lastIndex: rows } = view;
  const from = query.cursor === undefined ? 1 : Number(query.cursor);
  const limit = query.limit ?? LIMIT_USUAL;
  if (query.field === 'line' && query.search !== undefined) return linePage(context, view, query);
  const wanted = wantedOf(query);
  // An archived batch has no attention list.
  const isListed = !view.archived && !wanted.search?.inPlan;
  const untilMs = performance.now() + LOOK_MS;
  if (isListed && wanted.state !== null && reading.unsettled.isState(wanted.state)) {
    const { after, ...seen } = await attentionList(context, wanted.state, wanted, { from, limit, untilMs });
    const looked = await reading.unsettled.count(context.ref, wanted.state, after);
    return page(context, seen, looked, view.counts[wanted.state] ?? 0);
  }
  const scanned = await scanRows(context, rows, wanted, { from, limit, untilMs });
  return page(context, scanned, (scanned.next ?? rows + 1) - 1, rows);
}

async function linePage(
  context: reading.RowContext,
  { lastIndex: rows, recovered }: StoredBatch,
  query: OrdersQuery,
): Promise<OrdersPage> {
  const line = /^[0-9]{1,9}$/.test(query.search ?? '') ? Number(query.search) : 0;
  const index = await (recovered ? lookForLine : findLine)(context, rows, line);
  const row = index === null ? null : await reading.orders.row(context, index);
  const wanted = { ...wantedOf(query), search: null };
  const isMeant = row !== null && (wanted.state ?? row.state) === row.state && fits(row, wanted);
  return page(context, { found: isMeant ? [row] : [], next: null }, rows, rows);
}

/** A page from the attention list: orders that failed or wait, without a scan. */
async function attentionList(
  context: reading.RowContext,
  state: Parameters<typeof reading.unsettled.rows>[1],
  wanted: Wanted,
  { from, limit, untilMs }: ScanBounds,
): Promise<Scanned & { readonly after: number }> {
  const found: RowView[] = [];
  let after = from - 1;
  for await (const row of reading.unsettled.rows(context, state, after)) {
    const isEnough = found.length === limit || (after >= from && performance.now() > untilMs);
    if (isEnough) return { found, next: after + 1, after };
    after = row.index;
    if (fits(row, wanted)) found.push(row);
  }
  return { found, next: null, after };
}

function page(
  { ref }: reading.RowContext,
  { found, next }: Scanned,
  scanned: number,
  of: number,
): OrdersPage {
  return {
    orders: found.map((row) => orderRow(ref, row)),
    next: next === null ? null : String(next),
    scanned,
    of,
  };
}

/**
 * Finds the row of a line in the file by binary search, since rows are in line order: about twelve blocks in a
 * million rows. Null for a line that is blank, a header, or inside a quoted cell.
 */
async function findLine(context: reading.RowContext, rows: number, line: number): Promise<number | null> {
  let low = 0;
  let high = Math.ceil(rows / PLAN_BLOCK_ROWS) - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const block = await context.plans.block(context.ref.no, middle);
    const [first, last] = [block.at(0), block.at(-1)];
    if (first === undefined || last === undefined) return null;
    if (line < first.line) high = middle - 1;
    else if (line > last.line) low = middle + 1;
    else {
      const offset = block.findIndex((row) => row.line === line);
      return offset < 0 ? null : middle * PLAN_BLOCK_ROWS + offset + 1;
    }
  }
  return null;
}

/** The same for a recovered batch. Rows are missing there, so that it reads all blocks. */
async function lookForLine(context: reading.RowContext, rows: number, line: number): Promise<number | null> {
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const found = await context.plans.block(context.ref.no, block);
    const offset = found.findIndex((row) => row !== reading.orders.unknownRow && row.line === line);
    if (offset >= 0) return block * PLAN_BLOCK_ROWS + offset + 1;
  }
  return null;
}

function wantedOf(query: OrdersQuery): Wanted {
  return { state: query.state ?? null, class: query.class ?? null, search: searchOf(query) };
}

function searchOf({ search, field = 'any' }: OrdersQuery): Search | null {
  const text = search?.trim() ?? '';
  if (text === '') return null;
  const cell = (has: (row: PlanRow) => boolean): Search => ({
    inPlan: { mayHold: (plan) => plan.mayMention(text), has },
    inRecord: null,
    inErrors: null,
  });
  switch (field) {
    case 'member':
      return cell(({ order }) => order?.member === text);
    case 'recipient':
      return cell(({ order }) => order?.recipient === text);
    case 'reference':
      return cell(({ reference }) => reference === text);
    case 'line':
      return cell(({ line }) => String(line) === text);
    case 'error':
      return { inPlan: null, inRecord: null, inErrors: text };
    case 'any':
      return {
        inPlan: {
          mayHold: (plan) => plan.mayHoldPart(text),
          has: ({ cells }) => cells.some((one) => includes(one, text)),
        },
        inRecord: null,
        inErrors: text,
      };
  }
}

/** How long one request searches over all batches, newest first. */
const BATCHES_LOOK_MS = 300;
const BATCHES_LIMIT = 100;

function boundsOf(query: { readonly cursor?: string | undefined; readonly limit?: number | undefined }) {
  return {
    from: query.cursor === undefined ? null : parseScanCursor(query.cursor),
    limit: query.limit ?? BATCHES_LIMIT,
    untilMs: performance.now() + BATCHES_LOOK_MS,
  };
}

function cursorOf(next: ScanPlace | null): string | null {
  return next === null ? null : `${next.place}.${next.index}.${next.scanned}`;
}

/** One page of a member's orders. */
export async function historyPage(
  scripts: ScriptClient,
  member: string,
  query: z.infer<typeof HistoryQuery>,
): Promise<HistoryPage> {
  const since = query.since === undefined ? 0 : Date.parse(query.since);
  const bounds = boundsOf(query);
  const wanted = wantMember(member);
  const of = await rowsOfAll(scripts, query.realm);
  const { found, next, scanned } = await scanBatches(
    sealedBatches(scripts, { realm: query.realm, from: bounds.from?.place }),
    ({ view }) => ((view.finishedAt ?? Number.POSITIVE_INFINITY) < since ? null : wanted),
    bounds,
  );
  const kept = found
    .map(({ ref, row }) => orderRow(ref, row))
    .filter((row) => since === 0 || Date.parse(row.settledAt ?? row.sentAt ?? '9999') >= since);
  return { member, orders: kept, next: cursorOf(next), scanned, of };
}

/** One page of batches that match the search, and how the text was understood. */
const BATCH_HITS_MAX = 50;

/** One page of a search over batches. */
export async function findBatchesPage(
  scripts: ScriptClient,
  { q, by, realm, cursor }: z.infer<typeof FindQuery>,
): Promise<FindReply> {
  const find = Find.open(scripts, q, { by, realm });
  const untilMs = performance.now() + BATCHES_LOOK_MS;
  const { found, next } = await find.batches({ from: cursor ?? null, limit: BATCH_HITS_MAX, untilMs });
  const { member, day } = find.meanings;
  return { member, day: day?.name ?? null, batches: [...found], next };
}

/** One page of a search over all orders. It continues where an earlier request stopped. */
export async function findOrdersPage(
  scripts: ScriptClient,
  query: z.infer<typeof FindOrdersQuery>,
): Promise<FindOrdersPage> {
  const find = Find.open(scripts, query.q, query);
  const { found, next, ...rest } = await find.orders(boundsOf(query));
  return { orders: found.map(foundOrder), next: cursorOf(next), ...rest };
}
