import { z } from 'zod';
import { Calendar } from '../../operations/views/calendar.js';
import { type Of, time } from '../../operations/views/values.js';
import { name, reason } from './values.js';

/** The calendar of the schedules. */

export const CalendarQuery = z.object({
  rule: name.optional(),
  cursor: time.optional().describe('Past times before this one.'),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});
export { Calendar as CalendarReply };
export type MissedTime = Of<typeof Calendar>['missed'][number];
export type PastRun = Of<typeof Calendar>['past'][number];

export const DismissRequest = z.object({ times: z.array(time).min(1).max(1_000), reason });
export const DismissReply = z.strictObject({ dismissed: z.array(time) });
