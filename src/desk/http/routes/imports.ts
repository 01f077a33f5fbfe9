import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { AlmonerError } from '../../../core/errors/error.js';
import { meetsTokens, opSums, spellExpected } from '../../../core/op-sums.js';
import type { Person } from '../../../core/people.js';
import type { App } from '../../../runtime/app.js';
import { counted, isoTime } from '../../../words/spelling.js';
import * as api from '../../api/imports.js';
import { Done } from '../../api/session.js';
import { sealedBatch } from '../../live/batch-reply.js';
import { mendUpload, planUpload } from '../plan-upload.js';
import { Download, route } from '../route.js';
import type { PlannedUpload, Upload, Uploads } from '../uploads.js';

/** Routes from an upload to its batch: upload, preview, and a start that repeats what the person saw. */
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
    summary: 'What your file would do, with every fault; nothing is sent.',
    params: api.UploadParams,
    body: api.PlanRequest,
    reply: api.PlanReply,
    async handle({ app, uploads }, { params, body, visitor }) {
      const upload = uploads.find(params.upload, visitor.identity.name);
      return (await uploads.preview(upload, ...planOf(app, { uploads, upload, body }, visitor.identity)))
        .document;
    },
  }),
  route('GET /api/uploads/:upload/faults', 'operator', {
    summary: 'Every fault of the last preview of your file, as CSV.',
    params: api.UploadParams,
    reply: 'text/csv',
    async handle({ uploads }, { params, visitor }) {
      const { faultsPath, name } = uploads.find(params.upload, visitor.identity.name);
      if ((await stat(faultsPath).catch(() => null)) === null)
        throw new AlmonerError('ALM_DESK_NOT_FOUND', 'The file was not looked at yet.');
      return new Download(`${name}.faults.csv`, 'text/csv; charset=utf-8', createReadStream(faultsPath));
    },
  }),
  route('POST /api/uploads/:upload/mend', 'operator', {
    summary:
      'A new upload: your file with these cells, all its other rows byte for byte. It has to be looked at before.',
    params: api.UploadParams,
    body: api.MendRequest,
    reply: api.UploadReply,
    audit: ({ body }) => ({
      what: `mended ${counted(body.cells.length, 'cell')} of an uploaded file`,
      batch: null,
    }),
    async handle({ uploads }, { params, body, visitor }) {
      const { name: who } = visitor.identity;
      const { id, name, bytes } = await mendUpload(uploads, uploads.find(params.upload, who), body.cells);
      return { upload: id, name, bytes };
    },
  }),
  route('GET /api/uploads/:upload/file', 'operator', {
    summary: 'Your uploaded or mended file itself.',
    params: api.UploadParams,
    reply: 'text/csv',
    handle({ uploads }, { params, visitor }) {
      const { path, name } = uploads.find(params.upload, visitor.identity.name);
      return new Download(name, 'text/csv; charset=utf-8', createReadStream(path));
    },
  }),
  route('POST /api/uploads/:upload/start', 'operator', {
    summary: 'Hand your file’s orders to the workers, if rows and total are those that were confirmed.',
    params: api.UploadParams,
    body: api.StartRequest,
    reply: api.StartReply,
    async handle({ app, uploads, board }, { params, body, visitor }) {
      const upload = uploads.find(params.upload, visitor.identity.name);
      const wanted = planOf(app, { uploads, upload, body }, visitor.identity);
      const { planned, asShown } = await uploads.planned(upload, ...wanted);
      const { shown = planned.verdict } = body;
      checkConfirmed(planned, asShown && shown === planned.verdict, body);
      const { ref, existing } = await planned.enqueue(body.inOrder);
      await uploads.remove(upload.id);
      if (body.members !== undefined) await uploads.remove(body.members);
      const { overview } = await board.look();
      const summary = await board.summaryOf({ ref, view: await sealedBatch(ref), dispatched: 0 });
      return { summary, existing, workers: overview.workers.alive };
    },
  }),
  route('DELETE /api/uploads/:upload', 'operator', {
    summary: 'Throw your uploaded file away.',
    params: api.UploadParams,
    reply: Done,
    async handle({ uploads }, { params, visitor }) {
      await uploads.remove(uploads.find(params.upload, visitor.identity.name).id);
      return { done: true as const };
    },
  }),
];

/** The name for display only. It is never used as a path. */
function baseName(name: string): string {
  const last = name.split(/[\\/]/).at(-1) ?? '';
  return last.replaceAll(/[\p{C}]/gu, '').slice(0, 120) || 'upload.csv';
}

/** Collects the options of a plan and the function that makes it. */
function planOf(
  app: App,
  {
    uploads,
    upload,
    body,
  }: {
    readonly uploads: Uploads;
    readonly upload: Upload;
    readonly body: z.infer<typeof api.PlanRequest>;
  },
  person: Person,
) {
  const {
    realm,
    currency = null,
    skipInvalid,
    map,
    headerLine = null,
    forgetColumns,
    again = null,
    newAddress,
    newLedger,
    newRowsOnly,
    begin: at = null,
    finishBy = null,
  } = body;
  if (again !== null && newRowsOnly)
    throw new AlmonerError(
      'ALM_DESK_BAD_REQUEST',
      'Again on purpose pays rows that were paid before, new rows only leaves them out. Nothing was done: give one of them.',
    );
  const members = tableOf(uploads, body.members, upload);
  const options = {
    currency,
    skipInvalid,
    map,
    headerLine,
    forgetColumns,
    members,
    again,
    newAddress,
    newLedger,
    newRowsOnly,
    at,
    finishBy,
  };
  const make = () =>
    planUpload(app.as(person), upload, realm, options).catch((error: unknown) => {
      // A table removed during the work explains any failure, so that this error is reported instead.
      tableOf(uploads, body.members, upload);
      throw error;
    });
  return [JSON.stringify({ realm, ...options }), make] as const;
}

/** The table has to belong to the same person; another person's is reported as missing. */
function tableOf(uploads: Uploads, id: string | undefined, { who }: Upload) {
  if (id === undefined) return null;
  try {
    const { path: file, name } = uploads.use(id, who);
    return { file, name };
  } catch (error) {
    throw new AlmonerError(
      'ALM_DESK_TABLE_UNKNOWN',
      'The table of members is not there any more: uploads are kept for an hour. Nothing was done.',
      { cause: error },
    );
  }
}

type Confirmed = Pick<z.infer<typeof api.StartRequest>, 'rows' | 'tokens' | 'shown'>;

/** Refuses a start where rows, tokens or the plan differ from what the person confirmed. */
function checkConfirmed({ document, unseen }: PlannedUpload, asShown: boolean, confirmed: Confirmed): void {
  const { source, faultCount, rows, existing, existingState } = document;
  if (faultCount > 0)
    throw new AlmonerError(
      'ALM_PLAN_FAULTS',
      `${source} has ${counted(faultCount, 'fault')} and was refused as a whole. Nothing was enqueued and nothing was sent.`,
    );
  // An existing batch needs no new confirmation, unless starting it would resume a paused or halted one.
  if (existing && (asShown || (existingState !== 'paused' && existingState !== 'halted'))) return;
  if (!asShown)
    throw new AlmonerError(
      'ALM_PLAN_CHANGED',
      'What the file would do is not what was shown: what other batches pay, how its own stands, or what is kept of its columns has changed since. Nothing was enqueued and nothing was sent.',
    );
  if (confirmed.shown === undefined && unseen.length > 0)
    throw new AlmonerError(
      'ALM_PLAN_KEPT_COLUMNS',
      `What was said of this header before (${unseen.join(', ')}) changes what ${source} means, or is not taken, and the start does not name the plan that showed it. Nothing was enqueued and nothing was sent.`,
      {
        next: 'Plan the file, look at its columns, and give its `shown`; or say `map` again, or `forgetColumns`.',
      },
    );
  if (rows === confirmed.rows && isTotal(document, confirmed)) return;
  throw new AlmonerError(
    'ALM_DESK_CHANGED',
    `The file has ${counted(rows, 'row')}, and its amounts to be sent are ${payableText(document)}, which is not what was confirmed. Nothing was enqueued.`,
  );
}

/** A single number is ambiguous for several directions, unless the request names the plan that was shown. */
function isTotal({ payable: { tokens, amounts } }: api.PlanReply, confirmed: Confirmed): boolean {
  if (typeof confirmed.tokens === 'string' && (confirmed.shown !== undefined || amounts === null))
    return confirmed.tokens === tokens;
  return (
    amounts !== null &&
    meetsTokens(
      confirmed.tokens,
      opSums((op) => BigInt(amounts[op])),
    ) === true
  );
}

function payableText({ payable: { tokens, amounts } }: api.PlanReply): string {
  return amounts === null
    ? tokens
    : `${spellExpected(opSums((op) => BigInt(amounts[op])))} (${tokens} together)`;
}
