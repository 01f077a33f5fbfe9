import { Readable } from 'node:stream';
import { AlmonerError } from '../../../core/errors/error.js';
import { findBatch } from '../../../ledger/index.js';
import { paceOf, resetPace } from '../../../operations/services/pace.js';
import { pickProfile } from '../../../runtime/config/config.js';
import { SteerRequest } from '../../api/batches.js';
import * as noticesApi from '../../api/notices.js';
import * as api from '../../api/overview.js';
import { sealedBatch } from '../../live/batch-reply.js';
import { Download, OpenLine, route } from '../route.js';

/** Routes for the first page, its live connection, the audit and tasks. */
export const OVERVIEW_ROUTES = [
  route('GET /api/overview', 'viewer', {
    summary: 'Realms, running batches, what wants attention, workers and the store.',
    reply: api.Overview,
    handle: async (desk) => (await desk.board.look()).overview,
  }),
  route('POST /api/realms/:realm/pace/reset', 'operator', {
    summary: 'Forgets what was learnt of a realm’s rate, and a hold; answers with what holds now.',
    params: api.RealmParams,
    body: SteerRequest,
    reply: api.PaceReply,
    async handle({ app }, { params, body, visitor }) {
      const profile = pickProfile(app.config, params.realm);
      await resetPace(app.as(visitor.identity), profile, body.reason ?? null);
      return paceOf(app.ledger(profile), profile.rate);
    },
  }),
  route('GET /api/events', 'viewer', {
    summary: 'The same, live: events `overview`, `changes` to it, `batch` (with ?batch) and `bye`.',
    query: api.EventsQuery,
    reply: 'text/event-stream',
    async handle({ app }, { query: { batch } }) {
      if (batch === undefined) return new OpenLine(null);
      // Checked before the connection opens, because an open stream cannot answer 404.
      const ref = await findBatch(app.scripts, batch, undefined, { lookingOnly: true });
      await sealedBatch(ref);
      return new OpenLine(ref.id);
    },
  }),
  route('GET /api/tasks', 'viewer', {
    summary: 'What the desk is busy with, newest first.',
    reply: api.TasksReply,
    handle: (desk) => ({ tasks: desk.tasks.list() }),
  }),
  route('GET /api/tasks/:task', 'viewer', {
    summary: 'How far one task is, and what became since of the orders it put back to work.',
    params: api.TaskParams,
    reply: api.TaskReply,
    handle: (desk, { params }) => desk.tasks.look(params.task),
  }),
  route('GET /api/audit', 'viewer', {
    summary: 'Who changed what, newest first; asks again with `next` while it is not null.',
    query: api.AuditQuery,
    reply: api.AuditPage,
    handle: (desk, { query }) => desk.audit.page(query.cursor, query.limit, query),
  }),
  route('GET /api/audit.csv', 'viewer', {
    summary: 'The same as CSV, whole.',
    query: api.AuditFileQuery,
    reply: 'text/csv',
    handle: (desk, { query }) =>
      new Download('audit.csv', 'text/csv; charset=utf-8', Readable.from(desk.audit.csv(query))),
  }),
];

/** Routes for notices. */
export const NOTICE_ROUTES = [
  route('GET /api/notices', 'viewer', {
    summary: 'The targets of notices, and the delivery of each message, newest first.',
    query: noticesApi.NoticesQuery,
    reply: noticesApi.NoticesPage,
    async handle({ notices }, { query }) {
      const targets = notices.targets.map(({ name, place, wants }) => ({
        target: name,
        place: placeOr(place),
        events: wants,
      }));
      const page = await notices.outbox.page(Number(query.cursor), query.limit);
      return { targets, waiting: await notices.outbox.waiting(), ...page };
    },
  }),
  route('POST /api/notices/test', 'operator', {
    summary: 'Send a test to one target. The list shows its delivery.',
    body: noticesApi.TestNoticeRequest,
    reply: noticesApi.TestNoticeReply,
    audit: ({ body }) => ({ what: `sent a test notice to ${body.target}`, batch: null }),
    async handle({ notices }, { body, visitor }) {
      const target = notices.targets.find(({ name }) => name === body.target);
      if (target === undefined)
        throw new AlmonerError(
          'ALM_DESK_NOT_FOUND',
          `No notices go to ${JSON.stringify(body.target)}. Nothing was sent.`,
        );
      return { id: await notices.test(target, visitor.identity.name) };
    },
  }),
  route('POST /api/notices/:id/replay', 'operator', {
    summary: 'Sends a notice once more, under the same id.',
    params: noticesApi.DeliveryParams,
    reply: noticesApi.Delivery,
    audit: ({ params }) => ({ what: `sent notice ${params.id} again`, batch: null }),
    handle: ({ notices }, { params }) => notices.outbox.replay(params.id),
  }),
];

function placeOr(place: () => string): string | null {
  try {
    return place();
  } catch {
    return null;
  }
}
