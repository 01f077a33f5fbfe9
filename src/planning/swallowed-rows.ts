import type { Sheet } from '../csv/row.js';

/**
 * Whether a cell holds a whole line of the table. A quote opened in the last column of one row and closed in
 * that of another is perfectly good CSV, and the rows between them would quietly not be paid.
 */
export function holdsRow(cells: readonly string[], sheet: Sheet): boolean {
  for (const cell of cells)
    if (cell.includes('\n')) return cell.split('\n').some((line) => isRow(line, sheet));
  return false;
}

function isRow(line: string, sheet: Sheet): boolean {
  const cells = line.split(sheet.delimiter);
  return (
    cells.length === sheet.header.length &&
    cells.length > 1 &&
    cells.some((cell) => /^[0-9]{5,20}$/.test(cell.trim()))
  );
}
