/**
 * True if leaving rows out fixes a refused file. False for a fault of the whole file, and for faults of orders that
 * rows stand in for, because those rows are accepted together or not at all.
 */
export function isOfRow(code: string): boolean {
  return /^ALM_ROW_(?!ORDER_)/.test(code);
}
