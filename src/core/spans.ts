/** The periods into which statistics are cut, and the tables that are available as CSV. */

export const SPANS = ['day', 'week', 'month'] as const;
export type Span = (typeof SPANS)[number];

export const STATS_TABLES = ['outcomes', 'rules', 'reasons', 'work'] as const;
export type StatsTable = (typeof STATS_TABLES)[number];
