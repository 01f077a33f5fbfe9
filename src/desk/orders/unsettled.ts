import { createHash } from 'node:crypto';
import { AlmonerError } from '../../core/errors/error.js';
import { absoluteOf, NO_SUMS, type OpSums, plus, sumOf } from '../../core/op-sums.js';
import {
  type BatchRef,
  lists,
  type RowView,
  readBatch,
  reading,
  type ScriptClient,
} from '../../ledger/index.js';
import { digitsOf } from '../../operations/batches/batch-status.js';
import { sidesSeen } from '../../operations/doubts/evidence.js';
import {
  contextOf,
  idOf,
  type OrderPlace,
  orderFinder,
  readDoubtName,
  sharedContexts,
} from '../../operations/orders/find-orders.js';
import { orderRow } from '../../operations/orders/order-row.js';
import { isoTime, messagePattern } from '../../words/spelling.js';
import type {
  DeadGroups,
  DeadSelection,
  DoubtRow,
  DoubtSelection,
  DoubtsPage,
  OrdersPage,
  SelectionCount,
} from '../api/index.js';
import { batchesFor, isFrom, parseCursor, type Where } from './paging.js';

/**
 * The states of dead letters. This module groups, lists and chooses dead letters and doubts over all batches, newest
 * first.
 */
const DEAD = ['refused', 'exhausted'] as const;
type WalkState = (typeof DEAD)[number] | 'doubt';
type DeadFilter = Omit<DeadSelection, 'orders'>;

type PageQuery = Where & { readonly cursor?: string | undefined; readonly limit?: number | undefined };

type Group = Pick<DeadGroups['groups'][number], 'class' | 'message' | 'state' | 'example'> & {
  count: number;
  sums: OpSums;
  readonly batches: Set<string>;
  readonly realms: Set<string>;
};

const LOOK_MS = 2_000;
const PAGE_LOOK_MS = 400;
const GROUPS_LOOK_MAX = 100_000;
const GROUPS_MAX = 200;
const CHOSEN_MAX = 500_000;

/** Groups dead letters by class and message. */
export async function deadGroups(scripts: ScriptClient, filter: DeadFilter): Promise<DeadGroups> {
  const groups = new Map<string, Group>();
  const until = performance.now() + LOOK_MS;
  let scanned = 0;
  for await (const { ref, row, state } of walk(scripts, DEAD, filter)) {
    if (!isOpen(row)) continue;
    scanned += 1;
    if (fits(row, filter)) {
      const message = messagePattern(row.error);
      const key = `${row.errorCode} ${state} ${message}`;
      const group = groups.get(key) ?? {
        class: row.errorCode,
        message,
        state,
        count: 0,
        sums: NO_SUMS,
        batches: new Set(),
        realms: new Set(),
        example: orderRow(ref, row),
      };
      group.count += 1;
      group.sums = plus(group.sums, sumOf(row.op, row.tokens));
      group.batches.add(ref.id);
      group.realms.add(ref.ledger.realm.name);
      groups.set(key, group);
    }
    if (scanned >= GROUPS_LOOK_MAX || performance.now() > until) break;
  }
  const list = [...groups.values()].sort((a, b) => b.count - a.count).slice(0, GROUPS_MAX);
  return {
    groups: list.map(({ sums, batches, realms, ...group }) => ({
      ...group,
      ...sumsReply(sums),
      batches: [...batches],
      realms: [...realms],
    })),
    scanned,
    of: await countStates(scripts, filter, DEAD),
  };
}

/** One page of dead letters, one by one. */
export async function deadPage(scripts: ScriptClient, query: DeadFilter & PageQuery): Promise<OrdersPage> {
  const { steps, ...page } = await listPage(scripts, DEAD, query, (row) => isOpen(row) && fits(row, query));
  return { ...page, orders: steps.map(({ ref, row }) => orderRow(ref, row)) };
}

/** One page of doubts with their evidence. */
export async function doubtsPage(scripts: ScriptClient, query: PageQuery): Promise<DoubtsPage> {
  const { steps, ...page } = await listPage(scripts, ['doubt'], query, () => true);
  return { ...page, orders: await Promise.all(steps.map(doubtRow)) };
}

/** A doubt with both sides' balances. */
async function doubtRow({ context, row }: Step<WalkState>): Promise<DoubtRow> {
  const { order } = await context.plans.row(context.ref.no, row.index);
  const { sides, looksLike } = sidesSeen(order, row.traces);
  return {
    ...orderRow(context.ref, row),
    sentAt: isoTime(reading.orders.requestTime(row)),
    key: row.traces?.key ?? null,
    requestId: row.traces?.requestId ?? null,
    sides,
    looksLike,
  };
}

async function listPage(
  scripts: ScriptClient,
  states: readonly WalkState[],
  query: PageQuery,
  accept: (row: RowView) => boolean,
) {
  const until = performance.now() + PAGE_LOOK_MS;
  const steps: Step<WalkState>[] = [];
  let scanned = 0;
  let next: string | null = null;
  for await (const step of walk(scripts, states, query)) {
    scanned += 1;
    if (accept(step.row)) steps.push(step);
    if (steps.length >= (query.limit ?? 50) || performance.now() > until) {
      next = step.cursor;
      break;
    }
  }
  return { steps, next, scanned, of: await countStates(scripts, query, states) };
}

/** The orders that an action would change. They are counted before the confirmation and again before the action. */
export type Chosen = SelectionCount & { readonly places: readonly ChosenOrder[] };
/** `doubt` is the number of the doubt that the person named or the filter found. */
type ChosenOrder = OrderPlace & { readonly doubt: string | null };

/** Chooses the dead letters of an action. */
export function chooseDead(scripts: ScriptClient, selection: DeadSelection): Promise<Chosen> {
  const { orders, realm, batch, class: code, message } = selection;
  if ((orders ?? realm ?? batch ?? code ?? message) === undefined)
    throw new AlmonerError(
      'ALM_DESK_BAD_REQUEST',
      'Nothing was chosen: name orders, or at least one filter.',
    );
  return choose(scripts, DEAD, selection, (row) => isOpen(row) && fits(row, selection));
}

/** Chooses the doubts of a decision. */
export function chooseDoubts(scripts: ScriptClient, selection: DoubtSelection): Promise<Chosen> {
  return choose(scripts, ['doubt'], selection, () => true);
}

/** Takes named orders as they are. The ledger refuses those to which the action does not apply, with its reason. */
async function choose(
  scripts: ScriptClient,
  states: readonly WalkState[],
  { orders, realm, batch }: DoubtSelection,
  accept: (row: RowView) => boolean,
): Promise<Chosen> {
  const places: ChosenOrder[] = [];
  let sums = NO_SUMS;
  const take = (ref: BatchRef, row: RowView, doubt: string | null) => {
    places.push({ ref, index: row.index, doubt });
    sums = plus(sums, sumOf(row.op, row.tokens));
  };
  if (orders !== undefined) {
    const context = sharedContexts();
    for (const { ref, index, doubt } of await namedOrders(scripts, orders))
      take(ref, await reading.orders.row(await context(ref), index), doubt);
  } else
    for await (const { ref, row } of walk(scripts, states, { realm, batch })) {
      if (accept(row)) take(ref, row, row.doubt);
      if (places.length >= CHOSEN_MAX) break;
    }
  const names = places.map((place) => `${place.ref.ledger.id} ${idOf(place)} ${place.doubt ?? ''}`).sort();
  const which = createHash('sha256').update(names.join('\n')).digest('base64url');
  return { places, count: places.length, ...sumsReply(sums), which: which.slice(0, 22) };
}

/** Finds each named order once. */
async function namedOrders(scripts: ScriptClient, names: readonly string[]): Promise<ChosenOrder[]> {
  const find = orderFinder(scripts);
  const found = new Map<string, ChosenOrder>();
  for (const { order, doubt } of names.map(readDoubtName)) {
    const place = await find(order);
    found.set(`${place.ref.ledger.id} ${idOf(place)} ${doubt ?? ''}`, { ...place, doubt });
  }
  return [...found.values()];
}

function sumsReply(sums: OpSums) {
  return { tokens: String(absoluteOf(sums)), amounts: digitsOf(sums) };
}

/** True for an order that is neither discarded nor replaced. */
function isOpen(row: RowView): boolean {
  return row.marks.length === 0;
}

function fits(row: RowView, filter: DeadFilter): boolean {
  if (filter.class !== undefined && row.errorCode !== filter.class) return false;
  return filter.message === undefined || messagePattern(row.error) === filter.message;
}

/** Counts all orders that wait for a person, whatever page is shown. */
async function countStates(
  scripts: ScriptClient,
  where: Where,
  states: readonly WalkState[],
): Promise<number> {
  const views = await Promise.all((await batchesFor(scripts, where)).map((ref) => readBatch(ref)));
  const counts = views.map((view) => {
    if (view === undefined) return 0;
    return states === DEAD ? reading.unsettled.openDead(view) : (view.counts.doubt ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

type Step<S> = {
  readonly ref: BatchRef;
  readonly context: reading.RowContext;
  readonly row: RowView;
  readonly state: S;
  /** The cursor that continues after this row. */
  readonly cursor: string;
};

/** Walks the orders in some states, beginning at a cursor. */
async function* walk<S extends WalkState>(
  scripts: ScriptClient,
  states: readonly S[],
  { cursor, ...where }: PageQuery,
): AsyncGenerator<Step<S>> {
  const start = cursor === undefined ? null : parseCursor(cursor, states);
  const refs = await batchesFor(scripts, where);
  for (const ref of start === null ? refs : refs.filter((one) => isFrom(one, start.place))) {
    const view = await readBatch(ref);
    if (view === undefined) continue;
    const context = await contextOf(ref);
    const here = lists.placeOf(ref) === start?.place ? start : null;
    for (const state of here === null ? states : states.slice(here.state)) {
      if ((view.counts[state] ?? 0) === 0) continue;
      const after = here !== null && state === states[here.state] ? here.index : 0;
      try {
        for await (const row of reading.unsettled.rows(context, state, after))
          yield { ref, context, row, state, cursor: `${lists.placeOf(ref)}.${state}.${row.index}` };
      } catch (error) {
        // An archive on another machine cannot be read here, so that its orders are counted but not listed.
        if (!reading.isArchiveAway(error)) throw error;
      }
    }
  }
}
