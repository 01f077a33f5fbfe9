import { z } from 'zod';
import { OPS } from '../../core/order.js';
import { SPANS, STATS_TABLES } from '../../core/spans.js';
import { TOTAL_OUTCOMES } from '../../core/states.js';
import { byOp, count, type Of, sum, time } from '../../operations/views/values.js';
import { name } from './values.js';

/** What was paid in the past, from the running totals: by day, week or month, and the statement of a month. */

const day = z.iso.date();
export const StatsQuery = z.object({
  realm: name.optional(),
  by: z.enum(SPANS).default('day'),
  since: day.optional().describe('The first day of UTC; a fortnight, twelve weeks or twelve months.'),
  until: day.optional().describe('The last day, which belongs to it; today.'),
});
export const StatsFileQuery = StatsQuery.extend({ of: z.enum(STATS_TABLES).default('outcomes') });

const currency = z.string().nullable().describe('Null: the realm’s own.');
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
      op: z.enum(OPS),
      outcome: z.enum(TOTAL_OUTCOMES),
      orders: z.int().describe('Below 0 where more left it on that day than entered it.'),
      tokens: sum,
    }),
  ),
  success: share.describe('Paid orders among those that ended.'),
  requests: count,
  retries: count,
  rateLimited: count.describe('Answers that asked to slow down (429).'),
  p50Ms: z.number().nullable().describe('Half of the answers came within.'),
  p95Ms: z.number().nullable(),
  share: share.describe('Requests among those allowed while orders were sent; null without a limit.'),
  rules: z.array(Label).describe('The most paid orders first.'),
  reasons: z.array(Label),
};
const days = { from: day, to: day };

export const StatsReply = z.strictObject({
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
export type StatsReply = Of<typeof StatsReply>;

export const StatementQuery = z.object({
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'expected a month such as 2026-11'),
  realm: name.optional().describe('A rehearsal is in it only where it is named.'),
});
export const StatementReply = z.strictObject({
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
      open: z.int().describe('Orders of which nobody can say yet whether they were paid.'),
      openTokens: byOp(sum),
    }),
  ),
});
export type StatementReply = Of<typeof StatementReply>;
