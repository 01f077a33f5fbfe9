import { z } from 'zod';
import { BatchSummary } from './batches.js';
import { byOp, certainty, count, digits, name, type Of, sum, time } from './values.js';

/** From an uploaded file to a batch. */

export const UploadParams = z.object({ upload: z.string().regex(/^[\w-]{22}$/) });
export const UploadQuery = z.object({ name: z.string().trim().min(1).max(200) });
export const UploadReply = z.strictObject({ upload: z.string(), name: z.string(), bytes: count });
export type UploadReply = Of<typeof UploadReply>;
export const UploadsReply = z.strictObject({
  uploads: z.array(UploadReply.extend({ receivedAt: time })).describe('Your own, the one used last first.'),
});
export type UploadsReply = Of<typeof UploadsReply>;

const setTime = z.string().trim().min(1).max(40).optional();

export const PlanRequest = z.strictObject({
  realm: name.optional(),
  skipInvalid: z.boolean().default(false),
  map: z.array(z.string().max(200)).max(20).default([]).describe('Names of columns, like `tokens=Punkte`.'),
  again: z.string().trim().min(1).max(100).optional(),
  newAddress: z
    .boolean()
    .default(false)
    .describe('Goes on where the same realm id was paid under another address.'),
  newRowsOnly: z
    .boolean()
    .default(false)
    .describe('Rows that were paid before are left out; not together with `again`.'),
  begin: setTime.describe('When it is to begin: `18:00` or `2026-11-20 18:00`, in the realm’s time zone.'),
  finishBy: setTime.describe('By when it should be over; a warning says where the pace does not reach it.'),
});
export type PlanRequest = Of<typeof PlanRequest>;

const Finding = z.strictObject({
  line: count,
  column: z.string().nullable(),
  code: z.string(),
  message: z.string(),
});
export type FindingReply = Of<typeof Finding>;

/** The document of `almoner plan --json`, its sums spelt as digits. */
export const PlanReply = z.strictObject({
  batch: z.string().nullable(),
  realm: z.string(),
  rehearsal: z.boolean(),
  baseUrl: z.string(),
  currency: z.string().nullable(),
  certainty,
  existing: z.boolean(),
  existingState: z.string().nullable(),
  source: z.string(),
  rows: count,
  orders: byOp(count),
  tokens: byOp(sum),
  members: count,
  duplicates: count,
  duplicatesOf: z.array(z.string()),
  looksPaid: z
    .array(z.strictObject({ batch: z.string(), rows: count, lines: z.string() }))
    .describe('Batches of the last 30 days that hold rows of this file which have no reference.'),
  invalid: count,
  faults: z.array(Finding).describe('The first thousand; all of them at /api/uploads/{upload}/faults.'),
  faultCount: count,
  warnings: z.array(Finding),
  requests: count,
  seconds: z.number(),
  startAt: time.nullable().describe('When it is to begin; null: at once.'),
  endsAt: time.describe('With the quiet hours in between.'),
  begins: z.string().nullable().describe('The same by the wall of the realm’s zone.'),
  ends: z.string(),
  timezone: z.string(),
  quietHours: z.array(z.string()),
  payable: z.strictObject({
    orders: count,
    tokens: sum.describe('Of whatever the orders do; typed to confirm.'),
    amounts: byOp(sum).nullable().describe('Null for the rest of a batch that does several things.'),
  }),
  books: z.strictObject({ batches: count, paid: count, tokens: sum, lastAt: time.nullable() }),
  dayLeft: sum.nullable(),
  netEffects: z.array(z.strictObject({ member: z.string(), rows: count, net: sum })),
});
export type PlanReply = Of<typeof PlanReply>;

export const StartRequest = PlanRequest.extend({
  rows: count.describe('The rows that the person confirmed: PlanReply.rows.'),
  tokens: digits.describe('The total that the person confirmed: PlanReply.payable.tokens.'),
  inOrder: z.boolean().default(false),
});
export const StartReply = z.strictObject({
  summary: BatchSummary,
  existing: z.boolean(),
  workers: count.describe('Workers alive; with 0 nothing is sent until one is started.'),
});
export type StartReply = Of<typeof StartReply>;
