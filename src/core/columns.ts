/** What a column of a file can mean. */
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
