/** The meanings that a CSV column can have. */
export const COLUMNS = [
  'member',
  'tokens',
  'recipient',
  'op',
  'reference',
  'reason',
  'realm',
  'currency',
] as const;
export type Column = (typeof COLUMNS)[number];
