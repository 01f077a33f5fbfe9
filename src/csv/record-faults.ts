import { flawCell, flawKind, LONE_CR } from './record-scanner.js';
import type { Finding } from './row.js';

/**
 * What is wrong with a record as such, whatever its cells mean: quotes, line ends, and cells that are too few
 * or too many. After any of it nobody can say which cell belongs to which column.
 */
export function recordFaults(
  names: readonly string[],
  line: number,
  record: readonly string[],
  flaw: number,
): Finding[] {
  if (flaw !== 0) return [flawFinding(names, line, flaw)];
  const width = names.length;
  if (record.length < width)
    return [
      {
        line,
        column: null,
        code: 'ALM_ROW_TOO_SHORT',
        message: `The row has ${count(record.length)}, the header ${width}; fill it up, also with empty cells.`,
      },
    ];
  if (hasSurplus(names, record))
    return [
      {
        line,
        column: null,
        code: 'ALM_ROW_TOO_LONG',
        message: `The row has ${count(record.length)}, the header ${width}; put a cell that holds the delimiter (such as 1,000) into quotes.`,
      },
    ];
  return [];
}

/** Spreadsheets leave empty cells at the end of a row; nothing is lost with them. */
export function hasSurplus(names: readonly string[], record: readonly string[]): boolean {
  return record.length > names.length && record.slice(names.length).some((text) => text.trim() !== '');
}

function flawFinding(names: readonly string[], line: number, flaw: number): Finding {
  const column = names[flawCell(flaw)] ?? null;
  if (flawKind(flaw) === LONE_CR)
    return {
      line,
      column,
      code: 'ALM_ROW_CARRIAGE_RETURN',
      message: 'A CR stands alone in this row; expected LF or CR LF at the end of lines and nowhere else.',
    };
  return {
    line,
    column,
    code: 'ALM_ROW_QUOTES',
    message: `Cell ${flawCell(flaw) + 1} holds a quote where none may stand; put the whole cell into quotes and write the quote twice.`,
  };
}

function count(cells: number): string {
  return cells === 1 ? '1 cell' : `${cells} cells`;
}
