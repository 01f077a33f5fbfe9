import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { AlmonerError } from '../../../core/errors/error.js';
import type { Person } from '../../../core/people.js';
import {
  type PlanChoices,
  type Planned,
  type PlannedFile,
  planDocument,
  planFile,
} from '../../../operations/pay/plan-file.js';
import { importBatch, standing } from '../../../operations/pay/store-batch.js';
import { needPreparer } from '../../../operations/people/who.js';
import { mergeIfRestored } from '../../../operations/services/merge.js';
import { refuseUnsafeStore } from '../../../operations/services/store-safety.js';
import type { App } from '../../../runtime/app.js';
import { pickProfile } from '../../../runtime/config/config.js';
import { counted, isoTime } from '../../../words/spelling.js';
import * as api from '../../api/imports.js';
import { Done } from '../../api/session.js';
import { sealedBatch } from '../../live/batch-reply.js';
import { Download, route } from '../route.js';
import type { PlannedUpload, Upload } from '../uploads.js';

/** From a dropped file to a batch: upload, preview, and a start that repeats what the person saw. */
export const IMPORT_ROUTES = [
  route('GET /api/uploads', 'operator', {
    summary: 'The files that you uploaded and did not start yet.',
    reply: api.UploadsReply,
    handle: ({ uploads }, { visitor }) => ({
      uploads: uploads.of(visitor.identity.name).map(({ id, name, bytes, receivedAt }) => {
        return { upload: id, name, bytes, receivedAt: isoTime(receivedAt) };
      }),
    }),
  }),
  route('POST /api/uploads', 'operator', {
    summary:
      'Upload a CSV: the body is the file itself, as text/csv. Nothing is sent. Of eight files of yours the one used longest ago makes room.',
    query: api.UploadQuery,
    file: 'text/csv',
    reply: api.UploadReply,
    audit: ({ query }) => ({ what: `uploaded ${baseName(query.name)}`, batch: null }),
    async handle({ uploads }, { query, raw, visitor }) {
      if (!(raw.body instanceof Readable))
        throw new AlmonerError(
          'ALM_DESK_BAD_REQUEST',
          'Expected the file itself as text/csv. Nothing was kept.',
        );
      const { name: who } = visitor.identity;
      const file = baseName(query.name);
      const { id, name, bytes } = await uploads.receive(raw.body, file, raw.contentLength, who);
      return { upload: id, name, bytes };
    },
  }),
  route('POST /api/uploads/:upload/plan', 'operator', {
    summary: 'What the file would do, with every fault; nothing is sent.',
    params: api.UploadParams,
    body: api.PlanRequest,
    reply: api.PlanReply,
    audit: null,
    async handle({ app, uploads }, { params, body, visitor }) {
      const upload = uploads.find(params.upload);
      return (await uploads.preview(upload, ...planOf(app, upload, body, visitor.identity))).document;
    },
  }),
  route('GET /api/uploads/:upload/faults', 'operator', {
    summary: 'Every fault of the last preview, as CSV.',
    params: api.UploadParams,
    reply: 'text/csv',
    async handle({ uploads }, { params }) {
      const { faultsPath, name } = uploads.find(params.upload);
      if ((await stat(faultsPath).catch(() => null)) === null)
        throw new AlmonerError('ALM_DESK_NOT_FOUND', 'The file was not looked at yet.');
      return new Download(`${name}.faults.csv`, 'text/csv; charset=utf-8', createReadStream(faultsPath));
    },
  }),
  route('POST /api/uploads/:upload/start', 'operator', {
    summary: 'Hand the file’s orders to the workers, if rows and total are those that were confirmed.',
    params: api.UploadParams,
    body: api.StartRequest,
    reply: api.StartReply,
    audit: ({ body }) => ({ what: `started a file of ${counted(body.rows, 'row')}`, batch: null }),
    async handle({ app, uploads, board }, { params, body, visitor, note }) {
      const upload = uploads.find(params.upload);
      const wanted = planOf(app, upload, body, visitor.identity);
      const { planned, asShown } = await uploads.planned(upload, ...wanted);
      checkConfirmed(planned.document, asShown, body);
      const { ref, existing } = await planned.enqueue(body.inOrder);
      const { orders, tokens } = planned.document.payable;
      note({ batches: [ref.id], orders, tokens });
      await uploads.remove(upload.id);
      const { overview } = await board.look();
      const summary = await board.summaryOf({ ref, view: await sealedBatch(ref), dispatched: 0 });
      return { summary, existing, workers: overview.workers.alive };
    },
  }),
  route('DELETE /api/uploads/:upload', 'operator', {
    summary: 'Throw an uploaded file away.',
    params: api.UploadParams,
    reply: Done,
    audit: null,
    async handle({ uploads }, { params, visitor }) {
      await uploads.remove(uploads.find(params.upload, visitor.identity.name).id);
      return { done: true as const };
    },
  }),
];

/** The name is for people only and never a path. */
function baseName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  return last.replaceAll(/[\p{C}]/gu, '').slice(0, 120) || 'upload.csv';
}

type PlanOptions = Pick<PlannedFile, 'map'> & Omit<PlanChoices, 'expectRows' | 'expectTokens'>;

/** How a file is planned, for whom, and the way to do it. */
function planOf(app: App, upload: Upload, body: z.infer<typeof api.PlanRequest>, person: Person) {
  const {
    realm,
    skipInvalid,
    map,
    again = null,
    newAddress,
    newRowsOnly,
    begin: at = null,
    finishBy = null,
  } = body;
  if (again !== null && newRowsOnly)
    throw new AlmonerError(
      'ALM_DESK_BAD_REQUEST',
      'Again on purpose pays rows that were paid before, new rows only leaves them out. Nothing was done: give one of them.',
    );
  const options = { skipInvalid, map, again, newAddress, newRowsOnly, at, finishBy };
  const make = () => planUpload(app.as(person), upload, realm, options);
  return [{ options: JSON.stringify({ realm, ...options }), who: person.name }, make] as const;
}

async function planUpload(
  app: App,
  { path, name }: Upload,
  realmName: string | undefined,
  options: PlanOptions,
): Promise<PlannedUpload> {
  const profile = pickProfile(app.config, realmName);
  // Whoever cannot prepare a payment there is told before the total is typed.
  await needPreparer(app, app.books(profile));
  await mergeIfRestored(app, profile);
  const realm = await app.realm(profile);
  const request = { file: path, ...options, expectRows: null, expectTokens: null };
  const { plan, preview } = await planFile(realm, request, Date.now());
  const planned = { plan: { ...plan, source: name }, preview };
  const { faultsFile: _, ...document } = await planDocument(planned, profile, null);
  return {
    document,
    verdict: verdictOf(plan),
    writeFaults: (file) => plan.findings.writeFaults(file),
    async enqueue(inOrder) {
      await refuseUnsafeStore(app);
      return importBatch(app, realm, planned, { batchId: null, inOrder });
    },
    close: () => plan.findings.close(),
  };
}

function verdictOf({ blocks, repeats, movedFrom, existing }: Planned['plan']): string {
  const hash = createHash('sha256').update(JSON.stringify(movedFrom.map(({ baseUrl }) => baseUrl)));
  hash.update(standing(existing?.view));
  for (const block of blocks) hash.update(block);
  for (const { batch, rows } of repeats.batches) hash.update(`${batch} ${rows.join()}`);
  return hash.digest('hex');
}

function checkConfirmed(
  { source, faultCount, rows, payable, existing, existingState }: api.PlanReply,
  asShown: boolean,
  confirmed: { readonly rows: number; readonly tokens: string },
): void {
  if (faultCount > 0)
    throw new AlmonerError(
      'ALM_PLAN_FAULTS',
      `${source} has ${counted(faultCount, 'fault')} and was refused as a whole. Nothing was enqueued and nothing was sent.`,
    );
  // Nothing new is made of orders that are a batch already; one that stands still would go on.
  if (existing && (asShown || (existingState !== 'paused' && existingState !== 'halted'))) return;
  if (!asShown)
    throw new AlmonerError(
      'ALM_PLAN_CHANGED',
      'What the file would do is not what was shown: what other batches pay, or how its own stands, has changed since. Nothing was enqueued and nothing was sent.',
    );
  if (rows === confirmed.rows && payable.tokens === confirmed.tokens) return;
  throw new AlmonerError(
    'ALM_DESK_CHANGED',
    `The file has ${counted(rows, 'row')}, and its amounts to be sent add up to ${payable.tokens}, which is not what was confirmed. Nothing was enqueued.`,
  );
}
