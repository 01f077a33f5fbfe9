import { AlmonerError } from '../../core/errors/error.js';
import { PlanReader, readBatch, type ScriptClient } from '../../ledger/index.js';
import type { HistoryPage, OrderRow } from '../api/index.js';
import { orderRow } from './order-row.js';
import { scanBlocks } from './scan-blocks.js';
import { batchesFor, placeOf } from './unsettled-walk.js';
import { wantMember } from './wanted.js';

/** Every order that ever touched a member, newest batch first, looked for in bounded pieces. */
const LOOK_MS = 300;
const LIMIT = 100;

export async function historyPage(
  scripts: ScriptClient,
  member: string,
  query: {
    readonly realm?: string | undefined;
    readonly since?: string | undefined;
    readonly cursor?: string | undefined;
  },
): Promise<HistoryPage> {
  const since = query.since === undefined ? 0 : Date.parse(query.since);
  const refs = await batchesFor(scripts, { realm: query.realm });
  const views = await Promise.all(refs.map((ref) => readBatch(ref)));
  const start = query.cursor === undefined ? null : parse(query.cursor);
  const untilMs = performance.now() + LOOK_MS;
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
    const context = { ref, plans: new PlanReader(ref.ledger), cancelled: view.state === 'cancelled' };
    const from = isStart ? start.index : 1;
    const options = { from, limit: LIMIT - orders.length, untilMs };
    const page =
      performance.now() < untilMs && options.limit > 0
        ? await scanBlocks(context, rows, wantMember(member), options)
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

function parse(cursor: string): { place: string; index: number } {
  const match = /^([0-9a-f]+\.[0-9]+)\.([1-9][0-9]{0,8})$/.exec(cursor);
  if (match?.[1] === undefined)
    throw new AlmonerError('ALM_DESK_BAD_REQUEST', 'The cursor is not one that the desk gave out.');
  return { place: match[1], index: Number(match[2]) };
}
