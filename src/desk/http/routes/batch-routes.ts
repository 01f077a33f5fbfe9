import { Readable } from 'node:stream';
import { z } from 'zod';
import { BATCH_STATES, ORDER_STATES } from '../../../core/states.js';
import { findBatch, PlanReader, readAudit } from '../../../ledger/index.js';
import type { AuditPage, BatchesPage } from '../../api/index.js';
import { batchParams, cursor, indexCursor, limit, name, realm, reason } from '../../api/values.js';
import { describeBatch, sealedBatch } from '../../live/batch-page.js';
import { ordersPage } from '../../orders/orders-page.js';
import { downloadReportFile, reportFiles, written } from '../downloads.js';
import { Download, route } from '../route.js';

/** Batches: looked at, steered, reported, taken back. */
const steering = (['pause', 'resume', 'cancel'] as const).map((verb) =>
  route(`POST /api/batches/:batch/${verb}`, 'operator', {
    summary: `${verb[0]?.toUpperCase()}${verb.slice(1)} a batch; what is being sent finishes.`,
    params: batchParams,
    body: z.object({ reason: reason.optional() }).default({}),
    reply: 'BatchReply',
    audit: ({ params }) => ({ what: `asked to ${verb} batch ${params.batch}`, batch: params.batch }),
    async handle(desk, { params, body, visitor }) {
      const ref = await findBatch(desk.parts.scripts, params.batch);
      await desk.parts.steer(ref, verb, { who: visitor.identity.name, why: body.reason ?? null });
      return describeBatch(desk.board, ref);
    },
  }),
);

export const BATCH_ROUTES = [
  route('GET /api/batches', 'viewer', {
    summary: 'All batches, newest first.',
    query: z.object({
      realm: realm.optional(),
      state: z.enum(BATCH_STATES).optional(),
      cursor: cursor.regex(/^[0-9]+$/).optional(),
      limit: limit(100).default(50),
    }),
    reply: 'BatchesPage',
    async handle(desk, { query }): Promise<BatchesPage> {
      const { seen } = await desk.board.look();
      const fitting = seen
        .filter(({ view }) => (query.realm ?? view.manifest.realm) === view.manifest.realm)
        .filter(({ view }) => (query.state ?? view.state) === view.state)
        .sort((a, b) => b.view.manifest.createdAt - a.view.manifest.createdAt);
      const from = Number(query.cursor ?? 0);
      const page = fitting.slice(from, from + query.limit);
      const next = from + page.length < fitting.length ? String(from + page.length) : null;
      return { batches: await Promise.all(page.map((each) => desk.board.summary(each))), next };
    },
  }),
  route('GET /api/batches/:batch', 'viewer', {
    summary: 'One batch: manifest, counts and sums, charts of its run, what can be done to it.',
    params: batchParams,
    reply: 'BatchReply',
    handle: async (desk, { params }) =>
      describeBatch(desk.board, await findBatch(desk.parts.scripts, params.batch)),
  }),
  route('GET /api/batches/:batch/orders', 'viewer', {
    summary: 'Its orders, by state, class or search; asks again with `next` while it is not null.',
    params: batchParams,
    query: z.object({
      state: z.enum(ORDER_STATES).optional(),
      class: name.optional(),
      search: z.string().max(200).optional(),
      field: z.enum(['any', 'member', 'recipient', 'reference', 'line', 'error']).optional(),
      cursor: indexCursor.optional(),
      limit: limit(200).optional(),
    }),
    reply: 'OrdersPage',
    async handle(desk, { params, query }) {
      const ref = await findBatch(desk.parts.scripts, params.batch);
      const view = await sealedBatch(ref);
      const context = { ref, plans: new PlanReader(ref.ledger), cancelled: view.state === 'cancelled' };
      return ordersPage(context, view, query);
    },
  }),
  route('GET /api/batches/:batch/audit', 'viewer', {
    summary: 'Who did what to it, oldest first.',
    params: batchParams,
    reply: 'AuditPage',
    async handle(desk, { params }): Promise<AuditPage> {
      const ref = await findBatch(desk.parts.scripts, params.batch);
      const entries = await readAudit(ref);
      return {
        entries: entries.map((entry) => ({ ...entry, at: new Date(entry.at).toISOString(), batch: ref.id })),
        next: null,
      };
    },
  }),
  ...steering,
  route('GET /api/batches/:batch/files', 'viewer', {
    summary: 'The files of its report as last written.',
    params: batchParams,
    reply: 'FilesReply',
    handle: async (desk, { params }) =>
      reportFiles(desk.parts.reportsFolder, (await findBatch(desk.parts.scripts, params.batch)).id),
  }),
  route('GET /api/batches/:batch/files/:name', 'viewer', {
    summary: 'One of these files.',
    params: batchParams.extend({ name }),
    reply: 'application/octet-stream',
    handle: async (desk, { params }) =>
      downloadReportFile(
        desk.parts.reportsFolder,
        (await findBatch(desk.parts.scripts, params.batch)).id,
        params.name,
      ),
  }),
  route('POST /api/batches/:batch/report', 'operator', {
    summary: 'Write its report again from the books, also half-way.',
    params: batchParams,
    reply: 'FilesReply',
    audit: ({ params }) => ({ what: `wrote the report of batch ${params.batch}`, batch: params.batch }),
    async handle(desk, { params }) {
      const ref = await findBatch(desk.parts.scripts, params.batch);
      await desk.parts.writeReport(ref);
      return reportFiles(desk.parts.reportsFolder, ref.id);
    },
  }),
  route('GET /api/batches/:batch/undo', 'viewer', {
    summary: 'The CSV that takes back what was proven paid; running it is an import like any other.',
    params: batchParams,
    reply: 'text/csv',
    async handle(desk, { params }) {
      const ref = await findBatch(desk.parts.scripts, params.batch);
      const text = await written((write) => desk.parts.undo(ref, write));
      return new Download(`${ref.id}-undo.csv`, 'text/csv; charset=utf-8', Readable.from([text]));
    },
  }),
];
