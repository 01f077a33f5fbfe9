/**
 * Whether leaving rows out mends a refused file: not a fault of the file as a whole, nor one of orders that rows stand
 * in for, which are taken together or not at all.
 */
export function isOfRow(code: string): boolean {
  return /^ALM_ROW_(?!ORDER_)/.test(code);
}
