import { z } from 'zod';
import { BatchGate, BatchManifest, BatchSummary } from './batches.js';
import { PlanReply } from './imports.js';
import { byOp, count, digits, type Of, op, reason, sum, time } from './values.js';

/** What waits for a second person, and what they say to it. */

const whyNot = z.string().nullable().describe('Why you are not the one to say go; null where you are.');

const WaitingBatch = z.strictObject({
  batch: z.string(),
  realm: z.string(),
  source: z.string(),
  preparer: z.string().nullable().describe('Null: nobody is known, and two people have to say go.'),
  createdAt: time,
  begins: z.string().nullable().describe('When, by the wall of the realm’s zone.'),
  orders: count.describe('To be sent; of a retry its dead letters.'),
  retry: z
    .boolean()
    .describe('It has begun: a retry of its dead letters waits, and amounts are of the whole batch.'),
  amounts: byOp(sum),
  currency: z.string().nullable(),
  held: z
    .strictObject({ state: z.enum(['paused', 'halted']), message: z.string() })
    .nullable()
    .describe('With a go alone it does not begin: somebody has to resume it.'),
  whyNot,
});

const WaitingRule = z.strictObject({
  rule: z.string(),
  realm: z.string(),
  asked: z.strictObject({ who: z.string(), at: time, why: z.string().nullable() }),
  whyNot,
});

/** Asking and agreeing are one request: without it, whoever means to ask could agree to what they never saw asked for. */
export const firstShown = z
  .string()
  .nullable()
  .describe('Who had asked for it, as the person saw it; null: nobody had. Another one by now: 409.');

const most = count.nullable();
const Requirement = z
  .strictObject({ overTokens: most, overRows: most })
  .describe('The most that one person prepares in a day without a second; null: no limit of that kind.');

const LessRequired = z
  .strictObject({
    realm: z.string(),
    now: Requirement,
    wanted: Requirement.describe('What the profile says.'),
    asked: z
      .strictObject({ who: z.string(), at: time })
      .nullable()
      .describe('Who wants this; null while nobody has asked.'),
    whyNot,
  })
  .describe('A realm that requires more than its profile says: two people make it less.');
export type LessRequired = Of<typeof LessRequired>;

export const ApprovalsReply = z.strictObject({
  batches: z.array(WaitingBatch).describe('Oldest first.'),
  rules: z.array(WaitingRule).describe('Those whose go somebody has asked for.'),
  requirements: z.array(LessRequired),
});
export type ApprovalsReply = Of<typeof ApprovalsReply>;

const OrderChange = z.strictObject({
  op,
  member: z.string(),
  recipient: z.string().nullable(),
  before: z.number().nullable(),
  now: z.number().nullable(),
});
const Side = z.strictObject({ orders: count, examples: z.array(OrderChange) });
const Difference = z.strictObject({
  batch: z.string(),
  source: z.string(),
  createdAt: time,
  same: count,
  added: Side,
  changed: Side,
  gone: Side,
});
export type Difference = Of<typeof Difference>;

const { payable, books, ends, timezone, quietHours } = PlanReply.shape;
export const ApprovalReply = z.strictObject({
  summary: BatchSummary,
  manifest: BatchManifest,
  gate: BatchGate,
  seal: z.string().describe('Of exactly this; a go is for it alone.'),
  retry: z.boolean().describe('It has begun: the go is for a retry of its dead letters.'),
  payable,
  requests: count,
  seconds: z.number(),
  ends: ends.describe('By about then, if it had its go now.'),
  timezone,
  quietHours,
  onGo: z.string().describe('What a go leads to, as the batch stands now.'),
  books,
  difference: z
    .union([z.literal('too-many'), Difference])
    .nullable()
    .describe('To the last batch whose file had the same header; null: there is none.'),
  whyNot,
});
export type ApprovalReply = Of<typeof ApprovalReply>;

export const ApproveRequest = z.strictObject({
  seal: z
    .string()
    .regex(/^[0-9a-f]{40}$/)
    .describe('ApprovalReply.seal, as the person saw it.'),
  tokens: digits.describe('The total that the person confirmed: ApprovalReply.payable.tokens.'),
});
export const ApprovedReply = z.strictObject({
  approved: z
    .boolean()
    .describe('False: nobody knew who had prepared it, you count as the first, and one more has to say go.'),
  summary: BatchSummary,
});
export type ApprovedReply = Of<typeof ApprovedReply>;

export const RefuseRequest = z.strictObject({ reason });

export const RequirementRequest = z.strictObject({
  ...Requirement.shape,
  asked: firstShown,
  reason: reason.optional(),
});
export const RequirementReply = z.strictObject({
  changed: z.boolean().describe('False: you are the first to ask; another person, an approver, has to.'),
  now: Requirement,
});
export type RequirementReply = Of<typeof RequirementReply>;
