import { AlmonerError } from '../../../core/errors/error.js';
import { reading } from '../../../ledger/index.js';
import { afterRetry } from '../../../operations/dead/after-retry.js';
import { discardDead, type Mended, refuseMoved, retryDead } from '../../../operations/dead/retry-discard.js';
import { doubtEvidence } from '../../../operations/doubts/evidence.js';
import { arrivingError, checkRulings, mayArrive, resolveDoubts } from '../../../operations/doubts/resolve.js';
import type { Ruling } from '../../../operations/doubts/rulings.js';
import {
  contextOf,
  findOrder,
  type OrderPlace,
  orderFinder,
} from '../../../operations/orders/find-orders.js';
import { orderRow } from '../../../operations/orders/order-row.js';
import { counted, isoTime } from '../../../words/spelling.js';
import * as api from '../../api/orders.js';
import { TaskReply } from '../../api/overview.js';
import { sealedBatch } from '../../live/batch-reply.js';
import { findBatchesPage, findOrdersPage, historyPage } from '../../orders/orders-page.js';
import {
  type Chosen,
  chooseDead,
  chooseDoubts,
  deadGroups,
  deadPage,
  doubtsPage,
} from '../../orders/unsettled.js';
import type { Desk } from '../desk.js';
import { route } from '../route.js';

/** Routes for orders, dead letters, doubts, members and the search. */
export const ORDER_ROUTES = [
  route('GET /api/orders/:order', 'viewer', {
    summary: 'One order with all it met.',
    params: api.OrderParams,
    reply: api.OrderReply,
    async handle({ app }, { params }): Promise<api.OrderReply> {
      const { ref, index } = await findOrder(app.scripts, params.order);
      const [view, context] = await Promise.all([sealedBatch(ref), contextOf(ref)]);
      const [row, history] = await Promise.all([
        reading.orders.row(context, index),
        reading.orders.details(ref, index),
      ]);
      const dead = (row.state === 'refused' || row.state === 'exhausted') && row.marks.length === 0;
      return {
        order: orderRow(ref, row),
        cells: row.cells.map((value, i) => ({ column: view.manifest.header[i] ?? `column ${i + 1}`, value })),
        history: history.map(withTimes),
        can: row.state === 'doubt' ? ['resolve'] : dead ? ['retry', 'discard'] : [],
      };
    },
  }),
  route('GET /api/dead', 'viewer', {
    summary: 'Dead letters grouped by class and message.',
    query: api.DeadQuery,
    reply: api.DeadGroups,
    handle: ({ app }, { query }) => deadGroups(app.scripts, query),
  }),
  route('GET /api/dead/orders', 'viewer', {
    summary: 'Dead letters one by one.',
    query: api.DeadOrdersQuery,
    reply: api.OrdersPage,
    handle: ({ app }, { query }) => deadPage(app.scripts, query),
  }),
  route('POST /api/dead/count', 'viewer', {
    summary: 'How many dead letters an action would touch.',
    body: api.DeadSelection,
    reply: api.SelectionCount,
    async handle({ app }, { body }) {
      const { places: _, ...told } = await chooseDead(app.scripts, body);
      return told;
    },
  }),
  route('POST /api/dead/retry', 'operator', {
    summary: 'Send dead letters again.',
    body: api.RetryRequest,
    reply: TaskReply,
    async handle(desk, { body, visitor }) {
      const places = confirmed(await chooseDead(desk.app.scripts, body), body);
      const { reason: why = null, newAddress } = body;
      // The task checks this again. Checked here, the error reaches the person who can act on it.
      if (!newAddress) await refuseMoved(places);
      const by = { who: visitor.identity.name, why, newAddress };
      const app = desk.app.as(visitor.identity);
      return mending(desk, { verb: 'retry', who: by.who, orders: places.length }, (told) =>
        retryDead(app, places, by, told),
      );
    },
  }),
  route('POST /api/dead/discard', 'operator', {
    summary: 'Mark dead letters as done with.',
    body: api.DiscardRequest,
    reply: TaskReply,
    async handle(desk, { body, visitor }) {
      const places = confirmed(await chooseDead(desk.app.scripts, body), body);
      const by = { who: visitor.identity.name, why: body.reason };
      return mending(desk, { verb: 'discard', who: by.who, orders: places.length }, (told) =>
        discardDead(desk.app, places, by, told),
      );
    },
  }),
  route('GET /api/doubts', 'viewer', {
    summary: 'Orders that almoner cannot prove paid or unpaid.',
    query: api.DoubtsQuery,
    reply: api.DoubtsPage,
    handle: ({ app }, { query }) => doubtsPage(app.scripts, query),
  }),
  route('POST /api/doubts/count', 'viewer', {
    summary: 'How many doubts a decision would end, and their sum.',
    body: api.DoubtSelection,
    reply: api.SelectionCount,
    async handle({ app }, { body }) {
      const { places: _, ...told } = await chooseDoubts(app.scripts, body);
      return told;
    },
  }),
  route('GET /api/doubts/:order', 'viewer', {
    summary: 'The evidence about one doubt; `now=true`, for operators, also reads the realm, at its pace.',
    params: api.OrderParams,
    query: api.DoubtQuery,
    reply: api.DoubtReply,
    async handle({ app, asking }, { params, query, visitor }) {
      const readNow = query.now === 'true';
      // Reads use the pace that payments need, so that a viewer may not trigger them.
      if (readNow && !visitor.identity.roles.includes('operator'))
        throw new AlmonerError(
          'ALM_DESK_ROLE',
          `${visitor.identity.name} may look, but not have the realm asked: that takes of the pace of payments. Nothing was done.`,
        );
      const find = orderFinder(app.scripts);
      const place = await find(params.order);
      const look = () => doubtEvidence(app, place, () => {}, { readNow });
      const { members, currency, later, sent } = await (readNow ? asking.through(look) : look());
      const laterPlaces = await Promise.all(later.slice(0, LATER_MAX).map(({ order }) => find(order)));
      return {
        order: await rowAt(place),
        currency,
        sides: members.map(({ lastSeen, change: _, ...side }) => ({
          ...side,
          lastSeen: lastSeen?.balance ?? null,
        })),
        later: await Promise.all(laterPlaces.map(rowAt)),
        key: sent?.key ?? null,
        requestId: sent?.requestId ?? null,
        sentAt: sent?.at ?? null,
        decisions: DECISIONS,
      };
    },
  }),
  route('POST /api/doubts/resolve', 'operator', {
    summary: 'End doubts as paid or unpaid, with a reason; nothing is sent.',
    body: api.ResolveRequest,
    reply: TaskReply,
    async handle(desk, { body, visitor }) {
      // A decision names the doubts that the person saw. A count alone does not identify them.
      if (body.orders === undefined && body.which === undefined)
        throw new AlmonerError(
          'ALM_DESK_BAD_REQUEST',
          'Name the orders, or send `which` of POST /api/doubts/count with the same filter: it tells the doubts that you saw from others. Nothing was done.',
        );
      const places = confirmed(await chooseDoubts(desk.app.scripts, body), body);
      const rulings = places.map((place) => ({ place, verdict: body.decision, doubt: place.doubt }));
      // The task checks this again. Checked here, the error names the doubts that ended meanwhile.
      if (body.orders !== undefined) await checkRulings(rulings);
      const arriving =
        body.decision === 'paid' || body.mayArrive === true ? [] : await mayArrive(desk.app, rulings);
      if (arriving.length > 0) throw arrivingError(arriving);
      const by = { who: visitor.identity.name, why: body.reason };
      const what = `resolve ${counted(rulings.length, 'doubt')} as ${body.decision}`;
      return desk.tasks.start(what, by.who, rulings.length, (progress) =>
        resolve(desk, rulings, by, progress),
      );
    },
  }),
  route('GET /api/find', 'viewer', {
    summary: 'The search over all batches: how a text is read, and the batches that match.',
    query: api.FindQuery,
    reply: api.FindReply,
    handle: ({ app }, { query }) => findBatchesPage(app.scripts, query),
  }),
  route('GET /api/find/orders', 'viewer', {
    summary:
      'The orders that match, of all batches, archives included; asks again with `next` while it is not null.',
    query: api.FindOrdersQuery,
    reply: api.FindOrdersPage,
    handle: ({ app }, { query }) => findOrdersPage(app.scripts, query),
  }),
  route('GET /api/members/:member/history', 'viewer', {
    summary: 'Every order that ever touched a member; asks again with `next` while it is not null.',
    params: api.MemberParams,
    query: api.HistoryQuery,
    reply: api.HistoryPage,
    handle: ({ app }, { params, query }) => historyPage(app.scripts, params.member, query),
  }),
];

const LATER_MAX = 50;
const DECISIONS: api.DoubtReply['decisions'] = [
  { decision: 'paid', does: 'The order ends paid, with your word as its evidence. Nothing is sent.' },
  {
    decision: 'unpaid',
    does: 'The order ends exhausted, as not applied. Nothing is sent before a person retries it, and a retry waits until the earlier request can no longer arrive.',
  },
];

async function rowAt({ ref, index }: OrderPlace) {
  return orderRow(ref, await reading.orders.row(await contextOf(ref), index));
}

/** Compares the chosen orders with those the person confirmed. Where they differ nothing is done. */
function confirmed(
  { places, which }: Chosen,
  seen: { readonly expect: number; readonly which?: string | undefined },
): Chosen['places'] {
  if (places.length !== seen.expect)
    throw new AlmonerError(
      'ALM_DESK_CHANGED',
      `${counted(places.length, 'order is', 'orders are')} meant by now, not the ${seen.expect} that were confirmed. Nothing was done.`,
    );
  if (seen.which !== undefined && seen.which !== which)
    throw new AlmonerError(
      'ALM_DESK_CHANGED',
      'Other orders are meant by now than those that were confirmed, though as many. Nothing was done.',
    );
  return places;
}

/** Starts a task that retries or discards, because thousands of orders take longer than a request. */
function mending(
  { tasks }: Desk,
  {
    verb,
    who,
    orders,
  }: { readonly verb: 'retry' | 'discard'; readonly who: string; readonly orders: number },
  mend: (progress: (done: number) => void) => Promise<Mended>,
): TaskReply {
  return tasks.start(`${verb} ${counted(orders, 'dead letter')}`, who, orders, async (progress) => {
    const { taken, refused } = await mend(progress);
    const end = { done: taken.length, refused };
    return verb === 'retry' ? { ...end, watch: afterRetry(taken) } : end;
  });
}

async function resolve(
  { app }: Desk,
  rulings: readonly Ruling[],
  by: { readonly who: string; readonly why: string },
  onProgress: (done: number) => void,
) {
  const { resolved, missed } = await resolveDoubts(app, await checkRulings(rulings), by, onProgress);
  return { done: resolved.length, refused: missed };
}

type Met = Awaited<ReturnType<typeof reading.orders.details>>[number];

function withTimes(event: Met): api.OrderReply['history'][number] {
  const at = isoTime(event.at);
  if (event.event !== 'orphaned') return { ...event, at };
  const { sentAt = null } = event;
  return { ...event, at, sentAt: sentAt === null ? null : isoTime(sentAt) };
}
