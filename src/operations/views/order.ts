import { z } from 'zod';
import { FoundBatch, foundBy } from './batch.js';
import { count, currency, ErrorCode, marks, type Of, Op, OrderState, time } from './values.js';

/** An order, as every face shows it. */

export const OrderRow = z.strictObject({
  order: z.string().describe('The order’s id.'),
  batch: z.string(),
  realm: z.string(),
  rehearsal: z.boolean(),
  index: count.describe('Its number in the batch, counted from 1.'),
  line: count.describe('The line of the file, or the one that a row would have below a header.'),
  op: Op.nullable().describe('Null, like member and tokens, for a row that never became an order.'),
  member: z.string().nullable(),
  recipient: z.string().nullable(),
  tokens: z.number().nullable(),
  reference: z.string().nullable(),
  reason: z.string().nullable(),
  state: OrderState,
  doubt: z
    .string()
    .nullable()
    .describe(
      'The number of its last doubt; null where it never was in doubt. A decision names `ORDER:DOUBT`, and is refused for another doubt.',
    ),
  marks,
  attempts: count,
  status: z.number().nullable().describe('The HTTP status of the last answer.'),
  balanceAfter: z.string().nullable(),
  class: ErrorCode.nullable().describe('The stable error code.'),
  message: z.string().nullable(),
  evidence: z.string().nullable().describe('What proves the state: `answer`, `key`, `readback`, `operator`.'),
  sentAt: time.nullable(),
  settledAt: time.nullable(),
});
export type OrderRow = Of<typeof OrderRow>;

export const FoundOrder = OrderRow.extend({ kind: z.literal('order'), by: foundBy }).describe(
  'An order that a search found.',
);
export type FoundOrder = Of<typeof FoundOrder>;

export const Found = z.discriminatedUnion('kind', [FoundBatch, FoundOrder]);

const { status: httpStatus, class: errorCode, message: error } = OrderRow.shape;
export const ResultRow = OrderRow.omit({
  ...{ batch: true, realm: true, rehearsal: true, index: true, status: true, class: true, message: true },
})
  .extend({
    httpStatus,
    errorCode,
    error,
    input: z.record(z.string(), z.string()).describe('The row as it was given, by column.'),
  })
  .describe('A row and what became of it, under the names of its line in results.csv.');
export type ResultRow = Of<typeof ResultRow>;

export const HistoryEntry = OrderRow.pick({
  ...{ batch: true, realm: true, rehearsal: true, order: true, line: true, op: true, tokens: true },
  ...{ reason: true, reference: true, state: true, marks: true, balanceAfter: true },
})
  .extend({
    at: time.describe('When it was sent, or when its batch was made.'),
    currency,
    source: z.string(),
    role: z.enum(['member', 'recipient']).describe('The side of a transfer that the member is on.'),
    counterpart: z.string().nullable().describe('The other side of a transfer.'),
  })
  .describe('An order that touched a member.');
export type HistoryEntry = Of<typeof HistoryEntry>;

export const Resolved = z
  .strictObject({
    resolved: z.array(OrderRow.pick({ order: true, state: true })),
    missed: z
      .array(z.strictObject({ order: z.string(), why: z.string() }))
      .describe('Those that somebody else moved meanwhile.'),
  })
  .describe('What became of doubts that a person decided.');
