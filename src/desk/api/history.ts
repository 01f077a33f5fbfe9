import { z } from 'zod';
import { SPANS, STATS_TABLES } from '../../core/spans.js';
import { day } from '../../operations/views/totals.js';
import { name } from './values.js';

/** What was paid in the past, from the running totals: by day, week or month, and the statement of a month. */

export { Statement as StatementReply, Stats as StatsReply } from '../../operations/views/totals.js';

export const StatsQuery = z.object({
  realm: name.optional(),
  by: z.enum(SPANS).default('day'),
  since: day.optional().describe('The first day of UTC; a fortnight, twelve weeks or twelve months.'),
  until: day.optional().describe('The last day, which belongs to it; today.'),
});
export const StatsFileQuery = StatsQuery.extend({ of: z.enum(STATS_TABLES).default('outcomes') });

export const StatementQuery = z.object({
  month: z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'expected a month such as 2026-11'),
  realm: name.optional().describe('A rehearsal is in it only where it is named.'),
});
