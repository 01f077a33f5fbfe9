import { z } from 'zod';
import { CLOSED, WAITING_WHYS } from '../../core/waiting.js';
import {
  batch,
  batchState,
  byOp,
  certainty,
  count,
  cursor,
  fileSha256,
  limit,
  memberTable,
  name,
  next,
  type Of,
  orderState,
  Rate,
  Reason,
  reason,
  sum,
  time,
} from './values.js';

/** Batches, and what is done to one as a whole. */

export const BatchParams = z.object({
  batch: batch.describe('An id, the unique beginning of one, or `last`.'),
});
export const FileParams = BatchParams.extend({ name });

const Waiting = z.strictObject({
  why: z.enum(WAITING_WHYS),
  message: z.string(),
  orders: count,
  tokens: sum,
  since: time,
  until: time
    .nullable()
    .describe('When it ends or is looked at again by itself; null where nobody can know.'),
  next: z.string().nullable().describe('The command that ends it; null where nothing needs to be done.'),
  session: z.string().nullable().describe('The sending process that has them, where that is the cause.'),
});

export const BatchSummary = z.strictObject({
  batch: z.string(),
  realm: z.string(),
  rehearsal: z.boolean(),
  currency: z.string().nullable().describe('What it is paid in; null: the realm’s own.'),
  state: batchState,
  reason: Reason.nullable(),
  source: z.string(),
  rows: count,
  counts: z.partialRecord(orderState, count),
  tokens: z.partialRecord(orderState, sum).describe('Sums of absolute amounts, whatever the orders do.'),
  amounts: byOp(sum).describe('What all its orders would do.'),
  requests: count,
  retries: count,
  rateLimited: count,
  perSecond: z.number().nullable().describe('Orders settled per second of late; null while it does not run.'),
  allowed: Rate.nullable().describe('The configured rate of its realm.'),
  etaSeconds: z
    .number()
    .nullable()
    .describe('Null where it depends on a person, or on something whose end nobody knows.'),
  waiting: z.array(Waiting).describe('Orders that are neither final nor moving, by why.'),
  notes: z
    .array(z.string())
    .describe(
      'What must be known beside the numbers: read-back ended, orders that may have been paid twice.',
    ),
  worker: z
    .enum(['run', 'workers'])
    .describe(
      'Who works it, or did last: the workers, or a run of its own. A retry hands a run to the workers.',
    ),
  createdAt: time,
  createdBy: z.string(),
  startedAt: time.nullable(),
  finishedAt: time.nullable(),
  recovered: z
    .boolean()
    .describe('It holds orders that journals know and the store had forgotten; its file may have had more.'),
  archived: z.boolean(),
});
export type BatchSummary = Of<typeof BatchSummary>;

export const BatchesQuery = z.object({
  realm: name.optional(),
  state: batchState.optional(),
  since: z.iso.datetime().or(z.iso.date()).optional().describe('Only batches made since then.'),
  cursor: cursor.regex(/^[0-9a-f]+\.[0-9]+$/).optional(),
  limit: limit(100).default(50),
});
export const BatchesPage = z.strictObject({ batches: z.array(BatchSummary), next });
export type BatchesPage = Of<typeof BatchesPage>;

export const BatchManifest = z.strictObject({
  realmId: z.string(),
  baseUrl: z.string(),
  certainty,
  currency: z.string().nullable(),
  header: z.array(z.string()),
  orders: byOp(count),
  tokens: byOp(sum),
  members: count,
  duplicates: count,
  invalid: count,
  sha256: z.string(),
  fileSha256,
  table: memberTable,
  again: z.string().nullable(),
  inOrder: z.boolean(),
});

export const BatchGate = z
  .strictObject({
    closed: z.enum(CLOSED).nullable().describe('Why it may not begin; null where it may.'),
    preparer: z
      .string()
      .nullable()
      .describe('Who prepared it, or asked for the retry; null: no token was used.'),
    begins: z.string().nullable().describe('When, in the realm’s zone.'),
    approved: z.strictObject({ who: z.string(), at: time, ends: time }).nullable().describe('Not used yet.'),
    mayApprove: z.array(z.string()).describe('Who may approve it, where that is what it waits for.'),
  })
  .describe('How a batch stands before it begins.');
export type BatchGate = Of<typeof BatchGate>;

export const BatchReply = z.strictObject({
  summary: BatchSummary,
  manifest: BatchManifest,
  gate: BatchGate.nullable().describe(
    'Null once it has begun, or is over, unless a retry of its dead letters waits.',
  ),
  latency: z.array(z.strictObject({ upToMs: z.number(), count })),
  series: z.strictObject({
    sliceMs: count,
    slices: z.array(
      z.strictObject({
        at: time,
        requests: count,
        paid: count,
        failed: count.describe('Refused or exhausted: definitely not applied.'),
        doubts: count,
        rateLimited: count,
      }),
    ),
  }),
  waitsForRecovery: z
    .boolean()
    .describe('Its realm is closed or waits for a person after a rollback: GET /api/recovery tells more.'),
  can: z
    .array(z.enum(['pause', 'resume', 'begin', 'cancel', 'report', 'undo']))
    .describe(
      'What can be done to it now; all but `undo` needs an operator. `begin` is a resume with `now`.',
    ),
});
export type BatchReply = Of<typeof BatchReply>;

export const SteerRequest = z.object({ reason: reason.optional() }).default({});
export const ResumeRequest = z
  .strictObject({
    reason: reason.optional(),
    now: z
      .boolean()
      .default(false)
      .describe('Begins it now instead of at its set time, which stays otherwise.'),
  })
  .default({ now: false });

export const UndoQuery = z.object({
  only: z
    .string()
    .min(1)
    .max(10_000)
    .optional()
    .describe('Members or lines, with commas between them; `member:2` and `line:2` tell them apart.'),
});

export const FilesReply = z
  .strictObject({ files: z.array(z.strictObject({ name: z.string(), bytes: count, writtenAt: time })) })
  .describe('Empty while no report was written.');
export type FilesReply = Of<typeof FilesReply>;
