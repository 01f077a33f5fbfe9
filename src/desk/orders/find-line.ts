import { PLAN_BLOCK_ROWS } from '../../ledger/keys.js';
import type { RowContext } from '../../ledger/rows.js';

/**
 * The row of a line in the file. Rows stand in the order of their lines, so a line is found by halving: some
 * twelve blocks are read in a million rows. Null for a line that is blank, a header or inside a quoted cell.
 */
export async function findLine(context: RowContext, rows: number, line: number): Promise<number | null> {
  let low = 0;
  let high = Math.ceil(rows / PLAN_BLOCK_ROWS) - 1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const block = await context.plans.block(context.ref.no, middle);
    const [first, last] = [block.at(0), block.at(-1)];
    if (first === undefined || last === undefined) return null;
    if (line < first.line) high = middle - 1;
    else if (line > last.line) low = middle + 1;
    else {
      const offset = block.findIndex((row) => row.line === line);
      return offset < 0 ? null : middle * PLAN_BLOCK_ROWS + offset + 1;
    }
  }
  return null;
}
