import { z } from 'zod';
import { FIND_TEXT_MAX } from '../../core/find-meanings.js';
import { reading } from '../../ledger/index.js';
import { FoundBatch, FoundBy } from '../../operations/views/batch.js';
import { FoundOrder, OrderRow } from '../../operations/views/order.js';
import { byOp, count, decision, type Of, OrderState, sum, time } from '../../operations/views/values.js';
import { batch, cursor, limit, member, name, next, order, reason } from './values.js';

/** Orders: a batch's, a member's, dead letters and doubts. */

export const OrderParams = z.object({ order });
export const MemberParams = z.object({ member });

export { OrderRow };

export const OrdersQuery = z.object({
  state: OrderState.optional(),
  class: name.optional(),
  search: z
    .string()
    .max(200)
    .optional()
    .describe('Exact for `line`, `member`, `recipient` and `reference`; else a part of the text.'),
  field: z.enum(['any', 'member', 'recipient', 'reference', 'line', 'error']).optional(),
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,8}$/, 'expected a cursor that the desk gave out')
    .optional(),
  limit: limit(200).optional(),
});
export type OrdersQuery = z.infer<typeof OrdersQuery>;

/** A search looks at a bounded number of rows for each request. */
const page = {
  orders: z.array(OrderRow).describe('May be fewer than asked for, even none, while `next` is not null.'),
  next,
  scanned: count.describe('Rows looked at so far.'),
  of: count.describe('Rows there are.'),
};
export const OrdersPage = z.strictObject(page);
export type OrdersPage = Of<typeof OrdersPage>;

export const HistoryQuery = z.object({
  realm: name.optional(),
  since: z.iso.datetime().or(z.iso.date()).optional(),
  cursor: cursor.optional(),
});
export const HistoryPage = z.strictObject({ member: z.string(), ...page });
export type HistoryPage = Of<typeof HistoryPage>;

export const FindQuery = z.object({
  q: z
    .string()
    .trim()
    .min(1)
    .max(FIND_TEXT_MAX)
    .describe(
      'The beginning of a batch or order id, a part of a file’s name, a whole reference, a member, an amount, or a day in UTC (`2026-11-03`, `20261103`, `today`, `yesterday`). Where it can mean several, all are looked for.',
    ),
  by: FoundBy.optional().describe('Only this meaning.'),
  realm: name.optional(),
  cursor: cursor.optional(),
});
export const FindReply = z.strictObject({
  member: z.string().nullable().describe('The member that the text may be; their history has a page.'),
  day: z.string().nullable().describe('The day that the text was read as, in UTC.'),
  batches: z.array(FoundBatch).describe('Newest first, at most 50.'),
  next,
});
export type FindReply = Of<typeof FindReply>;
export const FindOrdersQuery = FindQuery.extend({
  cursor: cursor.optional(),
  limit: limit(200).optional(),
});
export const FindOrdersPage = z.strictObject({
  ...page,
  orders: z
    .array(FoundOrder)
    .describe(
      'Of the newest batches first. May be fewer than asked for, even none, while `next` is not null.',
    ),
  unsearched: z
    .array(z.strictObject({ batch: z.string(), message: z.string() }))
    .describe('Batches whose rows could not be read: their archive is missing or damaged.'),
});
export type FindOrdersPage = Of<typeof FindOrdersPage>;

const [attempt, orphaned, balances, concluded, retried, discarded] = reading.evidence.event.options;
const OrderEvent = z.discriminatedUnion('event', [
  attempt.extend({ at: time }).strict(),
  orphaned.extend({ at: time, sentAt: time.nullable().optional() }).strict(),
  balances.extend({ at: time }).strict(),
  concluded.extend({ at: time }).strict(),
  retried.extend({ at: time }).strict(),
  discarded.extend({ at: time }).strict(),
]);

export const OrderReply = z.strictObject({
  order: OrderRow,
  cells: z.array(z.strictObject({ column: z.string(), value: z.string() })),
  history: z
    .array(OrderEvent)
    .describe('What it met, oldest first; empty for an order that was paid at the first attempt.'),
  can: z.array(z.enum(['retry', 'discard', 'resolve'])),
});
export type OrderReply = Of<typeof OrderReply>;

/** A doubt in a list, with all that its own history tells. */
export const DoubtRow = OrderRow.extend({
  sentAt: time.nullable().describe('Of the last request.'),
  key: z.string().nullable(),
  requestId: z.string().nullable(),
  sides: z.array(
    z.strictObject({
      member: z.string(),
      before: z.string().nullable().describe('Read before it was sent.'),
      ifPaid: z.string().nullable(),
      inDoubt: z.string().nullable().describe('Read when the doubt arose.'),
    }),
  ),
  looksLike: decision.nullable().describe('What these balances speak for, where nothing else moved them.'),
});
export type DoubtRow = Of<typeof DoubtRow>;

const where = { realm: name.optional(), batch: batch.optional() };
const filter = { ...where, class: name.optional(), message: z.string().max(400).optional() };
const orders = z.array(order).min(1).max(1000);
const expected = {
  expect: count.describe('The count that the person saw; with any other by now nothing is done.'),
  which: z
    .string()
    .max(40)
    .optional()
    .describe('SelectionCount.which of what the person saw; with any other orders by now nothing is done.'),
};
const pageQuery = { cursor: cursor.optional(), limit: limit(200).optional() };

export const DeadQuery = z.object({ ...where, class: name.optional() });
export const DeadOrdersQuery = z.object({ ...filter, ...pageQuery });
export const DeadSelection = z
  .object({ ...filter, orders: orders.optional() })
  .describe('Either these very orders, or all that meet the filter; an empty filter is refused.');
export type DeadSelection = Of<typeof DeadSelection>;
const sums = { tokens: sum.describe('All amounts together.'), amounts: byOp(sum) };
export const SelectionCount = z.strictObject({
  count,
  ...sums,
  which: z.string().describe('Equal only for the very same orders.'),
});
export type SelectionCount = Of<typeof SelectionCount>;
export const RetryRequest = DeadSelection.extend({
  ...expected,
  reason: reason.optional(),
  newAddress: z
    .boolean()
    .default(false)
    .describe('Goes on where the same realm id was paid under another address; without it that is a 422.'),
});
export const DiscardRequest = DeadSelection.extend({ ...expected, reason });
export const DeadGroups = z.strictObject({
  groups: z.array(
    z.strictObject({
      class: z.string().nullable(),
      message: z.string(),
      state: z.enum(['refused', 'exhausted']),
      count,
      ...sums,
      batches: z.array(z.string()),
      realms: z.array(z.string()),
      example: OrderRow,
    }),
  ),
  scanned: count.describe('Dead letters looked at: at most 100,000.'),
  of: count.describe('Dead letters there are.'),
});
export type DeadGroups = Of<typeof DeadGroups>;

export const DoubtsQuery = z.object({ ...where, ...pageQuery });
export const DoubtsPage = z.strictObject({
  ...page,
  orders: z.array(DoubtRow),
  of: count.describe('All that match.'),
});
export type DoubtsPage = Of<typeof DoubtsPage>;
export const DoubtSelection = z
  .object({ ...where, orders: orders.optional() })
  .describe(
    'Either these very orders, or all that meet the filter; an empty filter means all. A decision about a filter names them with `which`.',
  );
export type DoubtSelection = Of<typeof DoubtSelection>;
export const DoubtQuery = z.object({ now: z.enum(['true', 'false']).default('false') });
export const DoubtReply = z.strictObject({
  order: OrderRow,
  currency: z.string().nullable().describe('What the balances are of; null: the realm’s own.'),
  sides: z.array(
    z.strictObject({
      member: z.string(),
      role: z.enum(['member', 'recipient']),
      lastSeen: z.string().nullable(),
      ifPaid: z.string().nullable(),
      ifUnpaid: z.string().nullable(),
      whenDoubtArose: z.string().nullable(),
      now: z.string().nullable().describe('Only with `now=true`.'),
    }),
  ),
  later: z
    .array(OrderRow)
    .describe('Orders that moved the same members afterwards, or may: they blur the balances.'),
  key: z.string().nullable(),
  requestId: z.string().nullable(),
  sentAt: time.nullable(),
  decisions: z.array(z.strictObject({ decision, does: z.string() })),
});
export type DoubtReply = Of<typeof DoubtReply>;
export const ResolveRequest = DoubtSelection.extend({
  decision,
  reason,
  ...expected,
  mayArrive: z
    .boolean()
    .optional()
    .describe(
      'The person knows that requests of these may still arrive. Without it, `unpaid` of an order younger than the settle time answers 409 ALM_BATCH_MAY_ARRIVE, naming each and until when, and nothing is done.',
    ),
});
export type ResolveRequest = Of<typeof ResolveRequest>;
