import { z } from 'zod';
import { byOp, count, type Of, Op, sum, time } from '../../operations/views/values.js';
import { BatchGate, BatchManifest, BatchSummary } from './batches.js';
import { PlanReply } from './imports.js';
import { digits, reason } from './values.js';

/** What waits for a second person, and what they say to it. */

const whyNot = z.string().nullable().describe('Why you are not the one to approve it; null where you are.');

const WaitingBatch = z.strictObject({
  batch: z.string(),
  realm: z.string(),
  source: z.string(),
  preparer: z
    .string()
    .nullable()
    .describe('Who prepared it, or asked for the retry; null: no token was used, and it cannot be approved.'),
  createdAt: time,
  begins: z.string().nullable().describe('When, in the realm’s zone.'),
  orders: count.describe('To be sent; of a retry its dead letters.'),
  tokens: digits,
  retry: z.boolean().describe('A retry of its dead letters waits; amounts are of the whole batch.'),
  amounts: byOp(sum)
    .nullable()
    .describe('Apart by what they do; null where some of the rows are duplicates.'),
  currency: z.string().nullable(),
  held: z
    .strictObject({ state: z.enum(['paused', 'halted']), message: z.string() })
    .nullable()
    .describe('Approved, it does not begin by that alone: a person has to resume it.'),
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

export const ApprovalsReply = z.strictObject({
  batches: z.array(WaitingBatch).describe('Oldest first.'),
  rules: z.array(WaitingRule).describe('Those whose approval was asked for.'),
});
export type ApprovalsReply = Of<typeof ApprovalsReply>;

const OrderChange = z.strictObject({
  op: Op,
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
  hash: z.string().describe('Of exactly this; an approval is for it alone.'),
  retry: z
    .array(
      z.strictObject({
        order: z.string(),
        member: z.string().nullable(),
        op: Op.nullable(),
        tokens: z.number().nullable(),
        state: z.string(),
        class: z.string().nullable(),
        attempts: count,
      }),
    )
    .nullable()
    .describe('The first hundred dead letters that are to be retried; null where the whole batch waits.'),
  isOutdated: z
    .boolean()
    .describe(
      'These dead letters are others than those that were asked for: the retry has to be asked for again.',
    ),
  why: z.string().nullable().describe('Why the retry was asked for.'),
  columns: z.string().nullable().describe('What its columns were taken for, as the preparer was shown it.'),
  warnings: z
    .strictObject({ count, first: z.array(z.string()).readonly() })
    .describe('What the preparer was warned of: how often, and the first of them.'),
  payable,
  requests: count,
  seconds: z.number(),
  ends: ends.describe('By about then, if it were approved now.'),
  timezone,
  quietHours,
  after: z.string().describe('What an approval leads to, as the batch stands now.'),
  books,
  difference: z
    .union([z.literal('too-many'), Difference])
    .nullable()
    .describe('To the last batch whose file had the same header; null: there is none.'),
  whyNot,
});
export type ApprovalReply = Of<typeof ApprovalReply>;

export const ApproveRequest = z.strictObject({
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('ApprovalReply.hash, as the person saw it.'),
  tokens: digits.describe('The total that the person confirmed: ApprovalReply.payable.tokens.'),
});
export const ApprovedReply = z.strictObject({ summary: BatchSummary });
export type ApprovedReply = Of<typeof ApprovedReply>;

export const RefuseRequest = z.strictObject({ hash: ApproveRequest.shape.hash, reason });
