import { z } from 'zod';
import { BatchSummary } from '../../operations/views/batch.js';
import { FileFinding, FilePlan } from '../../operations/views/plan.js';
import { count, type Of, time } from '../../operations/views/values.js';
import { CELL_CHARACTERS_MAX, digits, MENDED_MAX, name } from './values.js';

/** From an uploaded file to a batch. */

export const UploadParams = z.object({ upload: z.string().regex(/^[\w-]{22}$/) });
export const UploadQuery = z.object({ name: z.string().trim().min(1).max(200) });
export const UploadReply = z.strictObject({ upload: z.string(), name: z.string(), bytes: count });
export type UploadReply = Of<typeof UploadReply>;
export const MendRequest = z.object({
  cells: z
    .array(
      z.object({
        line: count.min(1),
        column: z.string().min(1).max(CELL_CHARACTERS_MAX).describe('As the header spells it.'),
        text: z
          .string()
          .max(CELL_CHARACTERS_MAX)
          .refine((text) => !/\p{Cs}/u.test(text) && !text.includes('\0'), 'expected text'),
      }),
    )
    .min(1)
    .max(MENDED_MAX),
});

export const UploadsReply = z.strictObject({
  uploads: z.array(UploadReply.extend({ receivedAt: time })).describe('Your own, the one used last first.'),
});
export type UploadsReply = Of<typeof UploadsReply>;

const setTime = z.string().trim().min(1).max(40).optional();

export const PlanRequest = z.strictObject({
  realm: name.optional(),
  currency: name.optional().describe('One of the currencies that the realm’s profile lists; unset: its own.'),
  skipInvalid: z.boolean().default(false),
  map: z
    .array(z.string().max(2_000))
    .max(20)
    .default([])
    .describe('Names of columns, like `tokens=Punkte`; `op=` takes none for it.'),
  headerLine: count.min(1).optional().describe('The line of the header; unset: the first that is not blank.'),
  forgetColumns: z
    .boolean()
    .default(false)
    .describe('Takes nothing that was kept under this header before, and forgets it.'),
  members: UploadParams.shape.upload
    .optional()
    .describe('An upload that is a table of wallets or handles with their members.'),
  again: z.string().trim().min(1).max(100).optional(),
  newAddress: z
    .boolean()
    .default(false)
    .describe('Goes on where the same realm id was paid under another address.'),
  newLedger: z
    .boolean()
    .default(false)
    .describe('Goes on where this machine has paid the realm from another ledger.'),
  newRowsOnly: z
    .boolean()
    .default(false)
    .describe('Rows that were paid before are left out; not together with `again`.'),
  begin: setTime.describe('When it is to begin: `18:00` or `2026-11-20 18:00`, in the realm’s time zone.'),
  finishBy: setTime.describe('By when it should be over; a warning says where the pace does not reach it.'),
});
export type PlanRequest = Of<typeof PlanRequest>;

const Fault = FileFinding.extend({
  cell: z
    .string()
    .optional()
    .describe('What stands there, where it can be mended by /api/uploads/{upload}/mend.'),
});
export type FaultReply = Of<typeof Fault>;

export const PlanReply = FilePlan.extend({
  faults: z.array(Fault).describe('The first thousand; all of them at /api/uploads/{upload}/faults.'),
  shown: z
    .string()
    .describe('What this plan would do, as a hash: a start that gives it does that and nothing else.'),
});
export type PlanReply = Of<typeof PlanReply>;

export const StartRequest = PlanRequest.extend({
  rows: count.describe('The rows that the person confirmed: PlanReply.rows.'),
  tokens: z
    .union([digits, z.strictObject({ given: digits, taken: digits, moved: digits }).partial()])
    .describe(
      'The total that the person confirmed: PlanReply.payable.tokens; or each direction by itself, which a file of several needs where `shown` is not given.',
    ),
  shown: z
    .string()
    .optional()
    .describe(
      'PlanReply.shown of the plan that the person saw. Without it a kept mapping that changes what the file means is refused.',
    ),
  inOrder: z.boolean().default(false),
});
export const StartReply = z.strictObject({
  summary: BatchSummary,
  existing: z.boolean(),
  workers: count.describe('Workers alive; with 0 nothing is sent until one is started.'),
});
export type StartReply = Of<typeof StartReply>;
