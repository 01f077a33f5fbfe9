import { defuse } from '../core/formula-cells.js';

export type Delimiter = ',' | ';' | '\t';
export type Cell = string | number | null;

/**
 * All three delimiters count, not only the file's own: a reader that guesses the delimiter from a line must
 * never meet another candidate outside quotes. Blanks at the ends are quoted since some programs trim them.
 */
const NEEDS_QUOTES = /[",;\t\r\n]|^ | $/;

/**
 * One record as RFC 4180 quotes it, ending in LF: every program reads that, and the line tools of Unix see no
 * stray CR in the last column.
 *
 * Every text cell is defused, also the input's own. "Unchanged" means that the file reads back as the same
 * cells; raw bytes would hand whoever wrote the input a formula in the operator's spreadsheet.
 */
export function csvLine(cells: readonly Cell[], delimiter: Delimiter): string {
  let line = '';
  for (let at = 0; at < cells.length; at += 1) {
    if (at > 0) line += delimiter;
    const cell = cells[at];
    if (typeof cell === 'string') line += csvCell(cell);
    else if (typeof cell === 'number') line += String(cell);
  }
  return `${line}\n`;
}

function csvCell(text: string): string {
  const safe = defuse(text);
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
