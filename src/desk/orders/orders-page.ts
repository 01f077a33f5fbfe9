import type { z } from 'zod';
import {
  attentionCount,
  attentionRows,
  type BatchView,
  isUnsettledState,
  PLAN_BLOCK_ROWS,
  type RowContext,
  type RowView,
  readBatch,
  readRow,
  type ScriptClient,
  type UnsettledState,
} from '../../ledger/index.js';
import { contextOf } from '../../operations/batches/find-orders.js';
import type { HistoryPage, HistoryQuery, OrderRow, OrdersPage, OrdersQuery } from '../api/index.js';
import { batchesFor, orderRow, parseCursor, placeOf } from './paging.js';
import {
  includes,
  type ScanBounds,
  type Scanned,
  scanBlocks,
  type Wanted,
  wantedOf,
  wantMember,
} from './search.js';

/**
 * One page of a batch's orders, however many there are. A cursor is the index to go on from. Three ways: a
 * line is found by halving; states that stand in the attention list come from there, without a scan; all
 * else is a scan that stops after a fraction of a second and is asked again.
 */
const LOOK_MS = 250;
const LIMIT_USUAL = 50;

export async function ordersPage(
  context: RowContext,
  view: BatchView,
  query: OrdersQuery,
): Promise<OrdersPage> {
  const { rows } = view.manifest;
  const from = query.cursor === undefined ? 1 : Number(query.cursor);
  const limit = query.limit ?? LIMIT_USUAL;
  if (query.field === 'line' && query.search !== undefined) return linePage(context, rows, query);
  const wanted = wantedOf(query);
  // An archived batch has no attention list any more.
  const isListed = !view.archived && !wanted.search?.inPlan;
  const untilMs = performance.now() + LOOK_MS;
  if (isListed && wanted.state !== null && isUnsettledState(wanted.state)) {
    const { after, ...seen } = await attentionList(context, wanted.state, wanted, { from, limit, untilMs });
    const looked = await attentionCount(context.ref, wanted.state, after);
    return page(context, seen, looked, view.counts[wanted.state] ?? 0);
  }
  const scanned = await scanBlocks(context, rows, wanted, { from, limit, untilMs });
  return page(context, scanned, (scanned.next ?? rows + 1) - 1, rows);
}

async function linePage(context: RowContext, rows: number, query: OrdersQuery): Promise<OrdersPage> {
  const line = /^[0-9]{1,9}$/.test(query.search ?? '') ? Number(query.search) : 0;
  const index = await findLine(context, rows, line);
  const row = index === null ? null : await readRow(context, index);
  const { state, class: code } = wantedOf(query);
  const fits =
    row !== null && (state ?? row.state) === row.state && (code ?? row.errorCode) === row.errorCode;
  return page(context, { found: fits ? [row] : [], next: null }, rows, rows);
}

async function attentionList(
  context: RowContext,
  state: UnsettledState,
  wanted: Wanted,
  { from, limit, untilMs }: ScanBounds,
): Promise<Scanned & { readonly after: number }> {
  const found: RowView[] = [];
  let after = from - 1;
  for await (const row of attentionRows(context, state, after)) {
    const isEnough = found.length === limit || (after >= from && performance.now() > untilMs);
    if (isEnough) return { found, next: after + 1, after };
    after = row.index;
    if (fits(row, wanted)) found.push(row);
  }
  return { found, next: null, after };
}

function fits(row: RowView, { class: code, search }: Wanted): boolean {
  return (code === null || row.errorCode === code) && (search === null || includes(row.error, search.text));
}

function page({ ref }: RowContext, { found, next }: Scanned, scanned: number, of: number): OrdersPage {
  return {
    orders: found.map((row) => orderRow(ref, row)),
    next: next === null ? null : String(next),
    scanned,
    of,
  };
}

/**
 * The row of a line in the file. Rows stand in the order of their lines, so a line is found by halving: some
 * twelve blocks are read in a million rows. Null for a line that is blank, a header or inside a quoted cell.
 */
async function findLine(context: RowContext, rows: number, line: number): Promise<number | null> {
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

/** Every order that ever touched a member, newest batch first, looked for in bounded pieces. */
const HISTORY_LOOK_MS = 300;
const HISTORY_LIMIT = 100;

export async function historyPage(
  scripts: ScriptClient,
  member: string,
  query: z.infer<typeof HistoryQuery>,
): Promise<HistoryPage> {
  const since = query.since === undefined ? 0 : Date.parse(query.since);
  const refs = await batchesFor(scripts, { realm: query.realm });
  const views = await Promise.all(refs.map((ref) => readBatch(ref)));
  const start = query.cursor === undefined ? null : parseCursor(query.cursor, []);
  const untilMs = performance.now() + HISTORY_LOOK_MS;
  const orders: OrderRow[] = [];
  let next: string | null = null;
  let [scanned, of] = [0, 0];
  let waiting = start !== null;
  for (const [i, ref] of refs.entries()) {
    const view = views[i];
    if (view === undefined || (view.finishedAt ?? Number.POSITIVE_INFINITY) < since) continue;
    const { rows } = view.manifest;
    of += rows;
    const isStart = start !== null && placeOf(ref) === start.place;
    if (isStart) waiting = false;
    if (waiting) scanned += rows;
    if (waiting || next !== null) continue;
    const from = isStart ? start.index : 1;
    const options = { from, limit: HISTORY_LIMIT - orders.length, untilMs };
    const page =
      performance.now() < untilMs && options.limit > 0
        ? await scanBlocks(await contextOf(ref), rows, wantMember(member), options)
        : { found: [], next: from };
    orders.push(...page.found.map((row) => orderRow(ref, row)));
    scanned += page.next === null ? rows : page.next - 1;
    if (page.next !== null) next = `${placeOf(ref)}.${page.next}`;
  }
  const kept = orders.filter(
    (row) => since === 0 || Date.parse(row.settledAt ?? row.sentAt ?? '9999') >= since,
  );
  return { member, orders: kept, next, scanned, of };
}
