import { z } from 'zod';
import { NOTICE_EVENTS } from '../../core/notice-events.js';
import { count, type Of, time } from '../../operations/views/values.js';
import { limit, name, next } from './values.js';

/** Notices to the outside: where they go, what became of each, and sending one again. */

const noticeEvent = z.enum(NOTICE_EVENTS);

export const Delivery = z.strictObject({
  id: z.string().describe('The same at every try: `webhook-id`.'),
  target: z.string(),
  event: noticeEvent,
  realm: z.string().nullable(),
  batch: z.string().nullable(),
  message: z.string(),
  at: time,
  state: z
    .enum(['waiting', 'delivered', 'given-up'])
    .describe('`given-up`: tried for a day, or the receiver is gone.'),
  tries: count,
  triedAt: time.nullable(),
  nextAt: time.nullable(),
  status: z.number().nullable().describe('Of the last answer; null: there was none.'),
  why: z.string().nullable().describe('Why the last try failed.'),
});
export type Delivery = Of<typeof Delivery>;

const NoticeTarget = z.strictObject({
  target: z.string(),
  place: z.string().nullable().describe('The server alone: the path may be a secret. Null: not readable.'),
  events: z.array(noticeEvent),
});

export const NoticesQuery = z.object({
  cursor: z
    .string()
    .regex(/^[0-9]{1,6}$/)
    .default('0'),
  limit: limit(200).default(50),
});
export const NoticesPage = z.strictObject({
  targets: z.array(NoticeTarget),
  waiting: count.describe('Letters that have not left yet.'),
  deliveries: z.array(Delivery),
  next,
});
export type NoticesPage = Of<typeof NoticesPage>;

export const DeliveryParams = z.object({ id: z.string().regex(/^msg_[0-9a-f]{32}$/) });
export const TestNoticeRequest = z.object({ target: name });
export const TestNoticeReply = z.strictObject({ id: z.string() });
