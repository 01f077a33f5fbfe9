import { z } from 'zod';
import { SPANS } from '../../core/spans.js';
import { TOTAL_OUTCOMES } from '../../core/states.js';
import { byOp, count, currency, type Of, Op, sum, time } from './values.js';

/** What was paid in the past, from the running totals. */

export const day = z.iso.date();
const days = { from: day, to: day };
const share = z.number().min(0).nullable();

const Label = z.strictObject({
  currency,
  label: z
    .string()
    .nullable()
    .describe('`(file)`: no rule, but a file. Null: all after the twentieth of a day together.'),
  paid: count,
  unpaid: count.describe('Refused or exhausted, each time.'),
  tokens: byOp(sum).describe('Of the paid ones.'),
});
const summary = {
  outcomes: z.array(
    z.strictObject({
      currency,
      op: Op,
      outcome: z.enum(TOTAL_OUTCOMES),
      orders: z.int().describe('Below 0 where more left it on that day than entered it.'),
      tokens: sum,
    }),
  ),
  success: share.describe('Paid orders among those that ended; null where none did.'),
  requests: count,
  retries: count,
  rateLimited: count.describe('Answers that asked to slow down (429).'),
  p50Ms: z.number().nullable().describe('Half of the answers came within.'),
  p95Ms: z.number().nullable(),
  share: share.describe('Requests among those allowed while orders were sent; null without a limit.'),
  rules: z.array(Label).describe('The most paid orders first.'),
  reasons: z.array(Label),
};

/** By day, week or month. */
export const Stats = z.strictObject({
  by: z.enum(SPANS),
  ...days,
  realms: z.array(
    z.strictObject({
      realm: z.string(),
      rehearsal: z.boolean(),
      periods: z.array(z.strictObject({ period: z.string(), ...days, ...summary })),
      whole: z.strictObject({ ...days, ...summary }),
      before: z.strictObject({ ...days, ...summary }).describe('As many days, right before.'),
    }),
  ),
});
export type Stats = Of<typeof Stats>;

export const Statement = z.strictObject({
  month: z.string(),
  at: time,
  final: z.boolean().describe('The month is over, and no order of it is open or being sent.'),
  sending: count.describe(
    'Orders that are being sent in batches which began before the month’s end; in no line yet.',
  ),
  lines: z.array(
    z.strictObject({
      realm: z.string(),
      realmId: z.string(),
      baseUrl: z.string(),
      rehearsal: z.boolean(),
      currency,
      paid: count,
      tokens: byOp(sum),
      net: sum.describe('Given less taken.'),
      open: z.int().describe('Orders of which it is not known yet whether they were paid.'),
      openTokens: byOp(sum),
    }),
  ),
});
export type Statement = Of<typeof Statement>;
