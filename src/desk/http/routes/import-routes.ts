import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { AlmonerError } from '../../../core/errors/error.js';
import type { StartReply, UploadReply } from '../../api/index.js';
import { digits, realm } from '../../api/values.js';
import type { PlannedUpload } from '../../deps.js';
import type { Desk } from '../../desk.js';
import { sealedBatch } from '../../live/batch-page.js';
import { Download, route } from '../route.js';
import type { Upload } from '../uploads.js';

/** From a dropped file to a batch: upload, preview, and a start that repeats what the person saw. */
const params = z.object({ upload: z.string().regex(/^[\w-]{22}$/) });
const planBody = z.object({
  realm: realm.optional(),
  skipInvalid: z.boolean().default(false),
  map: z.array(z.string().max(200)).max(20).default([]),
  again: z.string().trim().min(1).max(100).optional(),
  newAddress: z.boolean().default(false),
  newRowsOnly: z.boolean().default(false),
});
type PlanBody = z.infer<typeof planBody>;

/** What is planned, and how. */
function planOf(desk: Desk, upload: Upload, body: PlanBody, who: string) {
  const { realm: realmName, skipInvalid, map, again, newAddress, newRowsOnly } = body;
  if (again !== undefined && newRowsOnly)
    throw new AlmonerError(
      'ALM_DESK_BAD_REQUEST',
      'Again on purpose pays rows that were paid before, new rows only leaves them out. Nothing was done: give one of them.',
    );
  const options = { realm: realmName, skipInvalid, map, again: again ?? null, newAddress, newRowsOnly };
  const file = { path: upload.path, name: upload.name, ...options };
  const make = () => desk.parts.plan(file, { who, why: null });
  return [upload, { options: JSON.stringify(options), who }, make] as const;
}

export const IMPORT_ROUTES = [
  route('POST /api/uploads', 'operator', {
    summary: 'Upload a CSV: the body is the file itself, as text/csv. Nothing is sent.',
    query: z.object({ name: z.string().trim().min(1).max(200) }),
    file: 'text/csv',
    reply: 'UploadReply',
    audit: ({ query }) => ({ what: `uploaded ${baseName(query.name)}`, batch: null }),
    async handle(desk, { query, visitor, raw }): Promise<UploadReply> {
      if (!(raw.body instanceof Readable))
        throw new AlmonerError(
          'ALM_DESK_BAD_REQUEST',
          'Expected the file itself as text/csv. Nothing was kept.',
        );
      const told = { name: baseName(query.name), who: visitor.identity.name, length: raw.contentLength };
      const { id, name, bytes } = await desk.uploads.receive(raw.body, told);
      return { upload: id, name, bytes };
    },
  }),
  route('POST /api/uploads/:upload/plan', 'operator', {
    summary: 'What the file would do, with every fault; nothing is sent.',
    params,
    body: planBody,
    reply: 'PlanReply',
    audit: null,
    async handle(desk, { params: { upload }, body, visitor }) {
      const found = desk.uploads.find(upload);
      return (await desk.uploads.preview(...planOf(desk, found, body, visitor.identity.name))).document;
    },
  }),
  route('GET /api/uploads/:upload/faults', 'operator', {
    summary: 'Every fault of the last preview, as CSV.',
    params,
    reply: 'text/csv',
    async handle(desk, { params: { upload } }) {
      const { faultsPath, name } = desk.uploads.find(upload);
      if ((await stat(faultsPath).catch(() => null)) === null)
        throw new AlmonerError('ALM_DESK_NOT_FOUND', 'The file was not looked at yet.');
      return new Download(`${name}.faults.csv`, 'text/csv; charset=utf-8', createReadStream(faultsPath));
    },
  }),
  route('POST /api/uploads/:upload/start', 'operator', {
    summary: 'Hand the file’s orders to the workers, if rows and total are those that were confirmed.',
    params,
    body: planBody.extend({
      rows: z.number().int().min(0),
      tokens: digits,
      inOrder: z.boolean().default(false),
    }),
    reply: 'StartReply',
    audit: ({ body }) => ({
      what: `started a file of ${body.rows} rows, ${body.tokens} tokens`,
      batch: null,
    }),
    async handle(desk, { params: { upload }, body, visitor }): Promise<StartReply> {
      const found = desk.uploads.find(upload);
      const wanted = planOf(desk, found, body, visitor.identity.name);
      const { planned: plan, asShown } = await desk.uploads.planned(...wanted);
      checkConfirmed(plan, asShown, body);
      const { ref, existing } = await plan.enqueue({ inOrder: body.inOrder });
      await desk.uploads.remove(upload);
      const { overview } = await desk.board.look();
      const summary = await desk.board.summaryOf({ ref, view: await sealedBatch(ref), dispatched: 0 });
      return { summary, existing, workers: overview.workers.alive };
    },
  }),
  route('DELETE /api/uploads/:upload', 'operator', {
    summary: 'Throw an uploaded file away.',
    params,
    reply: 'Done',
    audit: null,
    async handle(desk, { params: { upload } }) {
      await desk.uploads.remove(upload);
      return { done: true };
    },
  }),
];

function checkConfirmed(
  { document }: PlannedUpload,
  asShown: boolean,
  confirmed: { rows: number; tokens: string },
): void {
  if (document.faultCount > 0)
    throw new AlmonerError(
      'ALM_PLAN_FAULTS',
      `${document.source} has ${document.faultCount} faults and was refused as a whole. Nothing was enqueued and nothing was sent.`,
    );
  const { rows, payable, existing, existingState } = document;
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
    `The file has ${rows} rows and pays ${payable.tokens} tokens, which is not what was confirmed. Nothing was enqueued.`,
  );
}

/** The name is for people only and never a path. */
function baseName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  return last.replaceAll(/[\p{C}]/gu, '').slice(0, 120) || 'upload.csv';
}
