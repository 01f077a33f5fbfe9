import { AlmonerError } from '../../core/errors/error.js';
import { parseOrderId } from '../../core/ids.js';
import {
  findBatch,
  PlanReader,
  type RowView,
  readBatch,
  readRow,
  rowContext,
  type ScriptClient,
} from '../../ledger/index.js';
import { messagePattern } from '../../words/spelling.js';
import type { DeadGroups, DeadSelection, OrdersPage } from '../api/index.js';
import type { OrderPlace } from '../by.js';
import { orderRow } from './order-row.js';
import { batchesFor, type Walk, type WalkState, walkAttention } from './unsettled-walk.js';

/** Dead letters over all batches: grouped, listed, and chosen for an action. Doubts are kept apart. */
export type DeadFilter = Omit<DeadSelection, 'orders'>;

const DEAD: readonly WalkState[] = ['refused', 'exhausted'];
const LOOK_MS = 2_000;
const PAGE_LOOK_MS = 400;
const GROUPS_LOOK_MAX = 100_000;
const GROUPS_MAX = 200;
const CHOSEN_MAX = 500_000;

type Group = { -readonly [K in keyof DeadGroups['groups'][number]]: DeadGroups['groups'][number][K] } & {
  sum: bigint;
};

export async function deadGroups(scripts: ScriptClient, filter: DeadFilter): Promise<DeadGroups> {
  const groups = new Map<string, Group>();
  const until = performance.now() + LOOK_MS;
  let scanned = 0;
  for await (const { ref, row } of walkAttention(scripts, { ...filter, states: DEAD })) {
    scanned += 1;
    if (isOpen(row) && fits(row, filter) && (row.state === 'refused' || row.state === 'exhausted')) {
      const message = messagePattern(row.error);
      const key = `${row.errorCode} ${row.state} ${message}`;
      const group = groups.get(key) ?? {
        class: row.errorCode,
        message,
        state: row.state,
        count: 0,
        tokens: '0',
        sum: 0n,
        batches: [],
        realms: [],
        example: orderRow(ref, row),
      };
      group.count += 1;
      group.sum += BigInt(row.tokens ?? 0);
      if (!group.batches.includes(ref.id)) group.batches = [...group.batches, ref.id];
      const { name } = ref.ledger.realm;
      if (!group.realms.includes(name)) group.realms = [...group.realms, name];
      groups.set(key, group);
    }
    if (scanned >= GROUPS_LOOK_MAX || performance.now() > until) break;
  }
  const list = [...groups.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS_MAX);
  return {
    groups: list.map(({ sum, ...group }) => ({ ...group, tokens: String(sum) })),
    scanned,
    of: await countStates(scripts, filter, DEAD),
  };
}

export async function listPage(
  scripts: ScriptClient,
  walk: Walk & { readonly limit?: number | undefined },
  accept: (row: RowView) => boolean,
): Promise<OrdersPage> {
  const limit = walk.limit ?? 50;
  const until = performance.now() + PAGE_LOOK_MS;
  const orders: OrdersPage['orders'][number][] = [];
  let scanned = 0;
  let next: string | null = null;
  for await (const step of walkAttention(scripts, walk)) {
    scanned += 1;
    next = null;
    if (accept(step.row)) orders.push(orderRow(step.ref, step.row));
    next = step.cursor;
    if (orders.length >= limit || performance.now() > until) break;
    next = null;
  }
  return { orders, next, scanned, of: await countStates(scripts, walk, walk.states) };
}

export function deadPage(
  scripts: ScriptClient,
  query: DeadFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined },
): Promise<OrdersPage> {
  return listPage(scripts, { ...query, states: DEAD }, (row) => isOpen(row) && fits(row, query));
}

/** The places an action would touch, and their sum: counted before anybody confirms, and again before it is done. */
export async function chooseDead(
  scripts: ScriptClient,
  selection: DeadSelection,
): Promise<{ places: OrderPlace[]; tokens: bigint }> {
  if (selection.orders !== undefined) return chooseNamed(scripts, selection.orders);
  const { realm, batch, class: code, message } = selection;
  if ((realm ?? batch ?? code ?? message) === undefined)
    throw new AlmonerError(
      'ALM_DESK_BAD_REQUEST',
      'Nothing was chosen: name orders, or at least one filter.',
    );
  const places: OrderPlace[] = [];
  let tokens = 0n;
  for await (const { ref, row } of walkAttention(scripts, { realm, batch, states: DEAD })) {
    if (!isOpen(row) || !fits(row, selection)) continue;
    places.push({ ref, index: row.index });
    tokens += BigInt(row.tokens ?? 0);
    if (places.length >= CHOSEN_MAX) break;
  }
  return { places, tokens };
}

export async function chooseDoubts(
  scripts: ScriptClient,
  chosen: { readonly orders?: readonly string[] | undefined; readonly batch?: string | undefined },
): Promise<{ places: OrderPlace[]; tokens: bigint }> {
  if (chosen.orders !== undefined) return chooseNamed(scripts, chosen.orders);
  if (chosen.batch === undefined)
    throw new AlmonerError('ALM_DESK_BAD_REQUEST', 'Nothing was chosen: name orders or a batch.');
  const places: OrderPlace[] = [];
  let tokens = 0n;
  for await (const { ref, row } of walkAttention(scripts, { batch: chosen.batch, states: ['doubt'] })) {
    places.push({ ref, index: row.index });
    tokens += BigInt(row.tokens ?? 0);
  }
  return { places, tokens };
}

/** Named orders are taken as they are: the ledger refuses, with its reason, those it cannot be done to. */
async function chooseNamed(
  scripts: ScriptClient,
  orders: readonly string[],
): Promise<{ places: OrderPlace[]; tokens: bigint }> {
  const places = new Map<string, OrderPlace>();
  let tokens = 0n;
  for (const order of orders) {
    const place = await findOrder(scripts, order);
    const key = `${place.ref.ledger.id} ${place.ref.no} ${place.index}`;
    if (places.has(key)) continue;
    places.set(key, place);
    const { tokens: amount } = await readRow(
      await rowContext(place.ref, new PlanReader(place.ref.ledger)),
      place.index,
    );
    tokens += BigInt(amount ?? 0);
  }
  return { places: [...places.values()], tokens };
}

export async function findOrder(scripts: ScriptClient, order: string): Promise<OrderPlace> {
  const parsed = parseOrderId(order);
  const ref = parsed && (await findBatch(scripts, parsed.batch));
  const rows = ref === undefined ? 0 : ((await readBatch(ref))?.manifest.rows ?? 0);
  if (parsed === undefined || ref === undefined || parsed.index > rows)
    throw new AlmonerError('ALM_BATCH_ORDER_NOT_FOUND', `There is no order ${JSON.stringify(order)}.`);
  return { ref, index: parsed.index };
}

/** A person is done with those that were discarded or put into another file. */
function isOpen(row: RowView): boolean {
  return row.marks.length === 0;
}

function fits(row: RowView, filter: DeadFilter): boolean {
  if (filter.class !== undefined && row.errorCode !== filter.class) return false;
  return filter.message === undefined || messagePattern(row.error) === filter.message;
}

async function countStates(
  scripts: ScriptClient,
  where: { readonly realm?: string | undefined; readonly batch?: string | undefined },
  states: readonly WalkState[],
): Promise<number> {
  const views = await Promise.all((await batchesFor(scripts, where)).map((ref) => readBatch(ref)));
  return views.reduce(
    (sum, view) => sum + states.reduce((inner, state) => inner + (view?.counts[state] ?? 0), 0),
    0,
  );
}
