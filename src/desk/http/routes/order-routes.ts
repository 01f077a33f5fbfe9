import { z } from 'zod';
import { AlmonerError } from '../../../core/errors/error.js';
import { PlanReader, readDetails, readRow, rowContext } from '../../../ledger/index.js';
import { isoTime } from '../../../words/spelling.js';
import type { DoubtReply, OrderReply, TaskReply } from '../../api/index.js';
import { cursor, limit, member, name, orderParams, orders, realm, reason } from '../../api/values.js';
import type { OrderPlace } from '../../by.js';
import type { Mended } from '../../deps.js';
import type { Desk } from '../../desk.js';
import { sealedBatch } from '../../live/batch-page.js';
import { chooseDead, chooseDoubts, deadGroups, deadPage, findOrder, listPage } from '../../orders/dead.js';
import { historyPage } from '../../orders/history.js';
import { orderRow } from '../../orders/order-row.js';
import { route } from '../route.js';

/** Single orders, dead letters, doubts, and everything about a member. */
const where = { realm: realm.optional(), batch: z.string().min(1).max(80).optional() };
const filter = { ...where, class: name.optional(), message: z.string().max(400).optional() };
const selection = z.object({ ...filter, orders: orders.optional() });
const expect = z.number().int().min(0);

/** The person confirmed a number; with any other one nothing is done. */
function checkExpected(found: number, expected: number): void {
  if (found !== expected)
    throw new AlmonerError(
      'ALM_DESK_CHANGED',
      `${found} orders are meant by now, not the ${expected} that were confirmed. Nothing was done.`,
    );
}

function mending(
  desk: Desk,
  verb: 'retry' | 'discard',
  who: string,
  { length }: readonly OrderPlace[],
  mend: (progress: (done: number) => void) => Promise<Mended>,
): TaskReply {
  return desk.tasks.start(`${verb} ${length} dead letters`, who, length, async (progress) => {
    const { taken, refused } = await mend(progress);
    return { done: taken, refused };
  });
}

export const ORDER_ROUTES = [
  route('GET /api/orders/:order', 'viewer', {
    summary: 'One order with all it met.',
    params: orderParams,
    reply: 'OrderReply',
    async handle(desk, { params }): Promise<OrderReply> {
      const { ref, index } = await findOrder(desk.parts.scripts, params.order);
      const [view, context] = await Promise.all([
        sealedBatch(ref),
        rowContext(ref, new PlanReader(ref.ledger)),
      ]);
      const [row, history] = await Promise.all([readRow(context, index), readDetails(ref, index)]);
      const dead = (row.state === 'refused' || row.state === 'exhausted') && row.marks.length === 0;
      return {
        order: orderRow(ref, row),
        cells: row.cells.map((value, i) => ({ column: view.manifest.header[i] ?? `column ${i + 1}`, value })),
        history,
        can: row.state === 'doubt' ? ['resolve'] : dead ? ['retry', 'discard'] : [],
      };
    },
  }),
  route('GET /api/dead', 'viewer', {
    summary: 'Dead letters grouped by class and message.',
    query: z.object({ ...where, class: name.optional() }),
    reply: 'DeadGroups',
    handle: (desk, { query }) => deadGroups(desk.parts.scripts, query),
  }),
  route('GET /api/dead/orders', 'viewer', {
    summary: 'Dead letters one by one.',
    query: z.object({ ...filter, cursor: cursor.optional(), limit: limit(200).optional() }),
    reply: 'OrdersPage',
    handle: (desk, { query }) => deadPage(desk.parts.scripts, query),
  }),
  route('POST /api/dead/count', 'viewer', {
    summary: 'How many dead letters an action would touch.',
    body: selection,
    reply: 'SelectionCount',
    async handle(desk, { body }) {
      const { places, tokens } = await chooseDead(desk.parts.scripts, body);
      return { count: places.length, tokens: String(tokens) };
    },
  }),
  route('POST /api/dead/retry', 'operator', {
    summary: 'Send dead letters again.',
    body: selection.extend({ expect, reason: reason.optional(), newAddress: z.boolean().default(false) }),
    reply: 'TaskReply',
    audit: ({ body }) => ({ what: `retry ${body.expect} dead letters`, batch: body.batch ?? null }),
    async handle(desk, { body, visitor }): Promise<TaskReply> {
      const { places } = await chooseDead(desk.parts.scripts, body);
      checkExpected(places.length, body.expect);
      const { reason: why = null, newAddress } = body;
      // Asked again by the task itself; here it is an answer that the person can act on.
      if (!newAddress) await desk.parts.checkAddresses(places);
      const by = { who: visitor.identity.name, why, newAddress };
      return mending(desk, 'retry', by.who, places, (progress) => desk.parts.retryDead(places, by, progress));
    },
  }),
  route('POST /api/dead/discard', 'operator', {
    summary: 'Mark dead letters as done with.',
    body: selection.extend({ expect, reason }),
    reply: 'TaskReply',
    audit: ({ body }) => ({ what: `discard ${body.expect} dead letters`, batch: body.batch ?? null }),
    async handle(desk, { body, visitor }): Promise<TaskReply> {
      const { places } = await chooseDead(desk.parts.scripts, body);
      checkExpected(places.length, body.expect);
      const by = { who: visitor.identity.name, why: body.reason };
      return mending(desk, 'discard', by.who, places, (progress) =>
        desk.parts.discardDead(places, by, progress),
      );
    },
  }),
  route('GET /api/doubts', 'viewer', {
    summary: 'Orders nobody can prove paid or unpaid.',
    query: z.object({ ...where, cursor: cursor.optional(), limit: limit(200).optional() }),
    reply: 'OrdersPage',
    handle: (desk, { query }) => listPage(desk.parts.scripts, { ...query, states: ['doubt'] }, () => true),
  }),
  route('GET /api/doubts/:order', 'viewer', {
    summary: 'The evidence about one doubt; `now=true`, for operators, also reads the realm, at its pace.',
    params: orderParams,
    query: z.object({ now: z.enum(['true', 'false']).default('false') }),
    reply: 'DoubtReply',
    async handle(desk, { params, query, visitor }): Promise<DoubtReply> {
      const { scripts, doubt } = desk.parts;
      // Reads take of the pace that payments go at: who may only look must not slow them down.
      if (query.now === 'true' && visitor.identity.role !== 'operator')
        throw new AlmonerError(
          'ALM_DESK_ROLE',
          `${visitor.identity.name} may look, but not have the realm asked: that takes of the pace of payments. Nothing was done.`,
        );
      const place = await findOrder(scripts, params.order);
      const rowAt = async ({ ref, index }: typeof place) =>
        orderRow(ref, await readRow(await rowContext(ref, new PlanReader(ref.ledger)), index));
      const { later, sentAt, ...evidence } = await doubt(place, query.now === 'true');
      const laterPlaces = await Promise.all(later.slice(0, 50).map((order) => findOrder(scripts, order)));
      return {
        ...evidence,
        order: await rowAt(place),
        later: await Promise.all(laterPlaces.map(rowAt)),
        sentAt: isoTime(sentAt),
      };
    },
  }),
  route('POST /api/doubts/resolve', 'operator', {
    summary: 'End doubts as paid or unpaid, with a reason; nothing is sent.',
    body: z.object({
      orders: orders.optional(),
      batch: z.string().min(1).max(80).optional(),
      decision: z.enum(['paid', 'unpaid']),
      reason,
      expect,
      mayArrive: z.boolean().optional(),
    }),
    reply: 'TaskReply',
    audit: ({ body }) => ({
      what: `resolve ${body.expect} doubts as ${body.decision}`,
      batch: body.batch ?? null,
    }),
    async handle(desk, { body, visitor }): Promise<TaskReply> {
      const { places } = await chooseDoubts(desk.parts.scripts, body);
      checkExpected(places.length, body.expect);
      if (body.decision === 'unpaid' && body.mayArrive !== true) await desk.parts.checkArriving(places);
      const by = { who: visitor.identity.name, why: body.reason };
      const what = `resolve ${places.length} doubts as ${body.decision}`;
      return desk.tasks.start(what, by.who, places.length, async (progress) => {
        const { taken, refused } = await desk.parts.resolveDoubts(places, body.decision, by, progress);
        return { done: taken, refused };
      });
    },
  }),
  route('GET /api/members/:member/history', 'viewer', {
    summary: 'Every order that ever touched a member; asks again with `next` while it is not null.',
    params: z.object({ member }),
    query: z.object({
      realm: realm.optional(),
      since: z.iso.datetime().or(z.iso.date()).optional(),
      cursor: cursor.optional(),
    }),
    reply: 'HistoryPage',
    handle: (desk, { params, query }) => historyPage(desk.parts.scripts, params.member, query),
  }),
];
