import { parseOrderId, UNDO } from '../core/ids.js';
import type { CellFault } from './member-cell.js';
import { textOf } from './spreadsheet-text.js';
import { invisibleIn, nameOf, show } from './visible.js';

export const REFERENCE_CHARACTERS_MAX = 200;
/** Also in wide letters, or with a blank: what looks like an undo is one, or is refused. */
const LIKE_UNDO = /^undo\s*:/i;
const LIKE_UNDO_CHARACTERS = 16;

/**
 * Reads a reference: null where there is none. It is compared letter by letter with what was spent before, so
 * a character that cannot be seen is refused: two references that look the same must be the same.
 */
export function readReferenceCell(cell: string): string | null | CellFault {
  if (cell === '') return null;
  const text = textOf(cell.trim()).trim();
  if (text === '') return null;
  if (text.length > REFERENCE_CHARACTERS_MAX)
    return fault(`${show(text)} is longer than ${REFERENCE_CHARACTERS_MAX} characters`);
  const invisible = invisibleIn(text);
  if (invisible !== undefined) return fault(`${show(text)} holds ${nameOf(invisible)}, which cannot be seen`);
  if (looksLikeUndo(text) && !(text.startsWith(UNDO) && parseOrderId(text.slice(UNDO.length)) !== undefined))
    return fault(`${show(text)} begins with "undo:", which only stands before an order’s id in undo files`);
  return text;
}

function looksLikeUndo(text: string): boolean {
  const first = text.charAt(0);
  // Nearly every reference begins otherwise, and a million of them pass here.
  if (first < '\u0080' && first !== 'u' && first !== 'U') return false;
  return LIKE_UNDO.test(text.slice(0, LIKE_UNDO_CHARACTERS).normalize('NFKC'));
}

function fault(found: string): CellFault {
  return { code: 'ALM_ROW_REFERENCE_INVALID', message: `${found}.` };
}
