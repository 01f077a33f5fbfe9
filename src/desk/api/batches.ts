import { z } from 'zod';
import { CLOSED } from '../../core/may-send.js';
import { BatchSummary } from '../../operations/views/batch.js';
import { FilePlan } from '../../operations/views/plan.js';
import { BatchState, count, type Of, time } from '../../operations/views/values.js';
import { batch, cursor, limit, name, next, reason } from './values.js';

/** Batches, and what is done to one as a whole. */

export const BatchParams = z.object({
  batch: batch.describe('An id, the unique beginning of one, or `last`.'),
});
export const FileParams = BatchParams.extend({ name });

export { BatchSummary };

export const BatchesQuery = z.object({
  realm: name.optional(),
  state: BatchState.optional(),
  since: z.iso.datetime().or(z.iso.date()).optional().describe('Only batches made since then.'),
  cursor: cursor.regex(/^[0-9a-f]+\.[0-9]+$/).optional(),
  limit: limit(100).default(50),
});
export const BatchesPage = z.strictObject({ batches: z.array(BatchSummary), next });
export type BatchesPage = Of<typeof BatchesPage>;

export const BatchManifest = FilePlan.pick({
  ...{ baseUrl: true, certainty: true, currency: true, orders: true, tokens: true, members: true },
  ...{ duplicates: true, invalid: true, fileSha256: true },
}).extend({
  realmId: z.string(),
  header: z.array(z.string()),
  sha256: z.string(),
  table: FilePlan.shape.memberTable,
  again: BatchSummary.shape.again,
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
