import { constants } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { AlmonerError } from '../../../core/errors/error.js';
import { type BatchRef, findBatch, lists, reading } from '../../../ledger/index.js';
import { batchesMade } from '../../../operations/batches/batch-status.js';
import { reportBatch } from '../../../operations/batches/report.js';
import { cancel, pause, resume } from '../../../operations/batches/steer.js';
import { WHOLE_UNDO, writeUndo } from '../../../operations/batches/undo.js';
import { contextOf } from '../../../operations/orders/find-orders.js';
import type { App } from '../../../runtime/app.js';
import { counted, isoTime } from '../../../words/spelling.js';
import * as api from '../../api/batches.js';
import { OrdersPage, OrdersQuery } from '../../api/orders.js';
import { AuditPage } from '../../api/overview.js';
import { sealedBatch } from '../../live/batch-reply.js';
import { ordersPage } from '../../orders/orders-page.js';
import { Download, route } from '../route.js';

/** Routes for batches: read, steer, report and undo. */
const steering = (['pause', 'cancel'] as const).map((verb) =>
  route(`POST /api/batches/:batch/${verb}`, 'operator', {
    summary: `${verb[0]?.toUpperCase()}${verb.slice(1)} a batch; what is being sent finishes.`,
    params: api.BatchParams,
    body: api.SteerRequest,
    reply: api.BatchReply,
    async handle({ app, board }, { params, body, visitor }) {
      const ref = await findBatch(app.scripts, params.batch);
      const by = { who: visitor.identity.name, why: body.reason ?? null };
      await (verb === 'pause' ? pause : cancel)(app.config, ref, by);
      return board.describe(ref);
    },
  }),
);

const resuming = route('POST /api/batches/:batch/resume', 'operator', {
  summary:
    'Resume a batch, and its realm where that is halted. A set time stays; with `now` it begins at once.',
  params: api.BatchParams,
  body: api.ResumeRequest,
  reply: api.BatchReply,
  async handle({ app, board }, { params, body, visitor }) {
    const ref = await findBatch(app.scripts, params.batch);
    await resume(app, ref, { who: visitor.identity.name, why: body.reason ?? null }, { now: body.now });
    return board.describe(ref);
  },
});

export const BATCH_ROUTES = [
  route('GET /api/batches', 'viewer', {
    summary: 'Batches, newest first; asks again with `next` while it is not null.',
    query: api.BatchesQuery,
    reply: api.BatchesPage,
    async handle({ app, board }, { query }) {
      const { realm, state, since, cursor: after, limit } = query;
      const sinceMs = since === undefined ? null : Date.parse(since);
      const batches: api.BatchSummary[] = [];
      let last: BatchRef | null = null;
      for await (const { ref, view } of batchesMade(app, { realm, state, sinceMs, after })) {
        if (batches.length === limit && last !== null) return { batches, next: lists.placeOf(last) };
        batches.push(await board.summaryOf({ ref, view, dispatched: 0 }));
        last = ref;
      }
      return { batches, next: null };
    },
  }),
  route('GET /api/batches/:batch', 'viewer', {
    summary: 'One batch: manifest, counts and sums, charts of its run, what can be done to it.',
    params: api.BatchParams,
    reply: api.BatchReply,
    handle: async ({ app, board }, { params }) => board.describe(await shownBatch(app, params.batch)),
  }),
  route('GET /api/batches/:batch/orders', 'viewer', {
    summary: 'Its orders, by state, class or search; asks again with `next` while it is not null.',
    params: api.BatchParams,
    query: OrdersQuery,
    reply: OrdersPage,
    async handle({ app }, { params, query }) {
      const ref = await shownBatch(app, params.batch);
      return ordersPage(await contextOf(ref), await sealedBatch(ref), query);
    },
  }),
  route('GET /api/batches/:batch/audit', 'viewer', {
    summary: 'Who did what to it, oldest first.',
    params: api.BatchParams,
    reply: AuditPage,
    async handle({ app }, { params }) {
      const ref = await shownBatch(app, params.batch);
      const entries = await reading.snapshots.audit(ref);
      const told = { batch: ref.id, orders: null, tokens: null };
      return { entries: entries.map((one) => ({ ...one, ...told, at: isoTime(one.at) })), next: null };
    },
  }),
  ...steering,
  resuming,
  route('GET /api/batches/:batch/files', 'viewer', {
    summary: 'The files of its report as last written.',
    params: api.BatchParams,
    reply: api.FilesReply,
    handle: async ({ app }, { params }) => reportFiles(app, await shownBatch(app, params.batch)),
  }),
  route('GET /api/batches/:batch/files/:name', 'viewer', {
    summary: 'One of these files.',
    params: api.FileParams,
    reply: 'application/octet-stream',
    handle: async ({ app }, { params }) =>
      downloadReportFile(app, await shownBatch(app, params.batch), params.name),
  }),
  route('POST /api/batches/:batch/report', 'operator', {
    summary: 'Write its report again from the ledger, also half-way.',
    params: api.BatchParams,
    reply: api.FilesReply,
    async handle({ app }, { params }) {
      const ref = await shownBatch(app, params.batch);
      await reportBatch(ref, app.config);
      return reportFiles(app, ref);
    },
  }),
  route('GET /api/batches/:batch/undo', 'viewer', {
    summary:
      'The CSV that takes back what was proven paid, or a part of it; running it is an import like any other.',
    params: api.BatchParams,
    query: api.UndoQuery,
    reply: 'text/csv',
    async handle({ app }, { params, query }) {
      const ref = await findBatch(app.scripts, params.batch);
      // The reply begins after the whole file is written, so that an error still has its status.
      const pieces: string[] = [];
      const { rows, leftOut } = await writeUndo(ref, app.config, async (text) => void pieces.push(text), {
        ...WHOLE_UNDO,
        only: query.only?.split(',') ?? [],
      });
      if (rows === 0)
        throw new AlmonerError(
          'ALM_BATCH_CANNOT',
          `Batch ${ref.id} holds nothing that could be taken back.`,
          { details: leftOut.map(({ orders, message }) => `${counted(orders, 'order')} ${message}`) },
        );
      return new Download(`${ref.id}-undo.csv`, 'text/csv; charset=utf-8', Readable.from([pieces.join('')]));
    },
  }),
];

function shownBatch({ scripts }: App, batch: string): Promise<BatchRef> {
  return findBatch(scripts, batch, undefined, { lookingOnly: true });
}

/**
 * Serves report files. A download names an entry of the folder's own listing, so that dots, slashes and links lead
 * nowhere else.
 */
const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
};

async function reportFiles({ config }: App, { id }: BatchRef): Promise<api.FilesReply> {
  const folder = join(config.reportsFolder, id);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
      .map(async ({ name }) => {
        const { size, mtime } = await lstat(join(folder, name));
        return { name, bytes: size, writtenAt: mtime.toISOString() };
      }),
  );
  return { files: files.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

/** Streams one report file. */
async function downloadReportFile(app: App, ref: BatchRef, wanted: string): Promise<Download> {
  const { files } = await reportFiles(app, ref);
  if (!files.some(({ name }) => name === wanted))
    throw new AlmonerError('ALM_DESK_NOT_FOUND', 'The report has no such file.', {
      next: 'Write the report again, then choose a file from its list.',
    });
  const path = join(app.config.reportsFolder, ref.id, wanted);
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  const type = TYPES[extname(wanted)] ?? 'application/octet-stream';
  return new Download(`${ref.id}-${wanted}`, type, handle.createReadStream());
}
