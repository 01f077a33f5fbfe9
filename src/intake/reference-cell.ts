import { isMemberId, parseOrderId, UNDO } from '../core/ids.js';
import type { Order } from '../core/order.js';
import { parseAward } from '../ledger/accounts.js';
import type { CellFault } from './member-cell.js';
import { textOf } from './spreadsheet-text.js';
import { invisibleIn, nameOf, show } from './visible.js';

export const REFERENCE_CHARACTERS_MAX = 200;
/** Also in wide letters, or with a blank: what looks like an undo or an award is one, or is refused. */
const LIKE_OURS = /^(undo|rule)\s*:/i;
const LIKE_OURS_CHARACTERS = 16;

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
  const ours = likeOurs(text);
  if (ours === 'undo' && !(text.startsWith(UNDO) && parseOrderId(text.slice(UNDO.length)) !== undefined))
    return fault(`${show(text)} begins with "undo:", which only stands before an order’s id in undo files`);
  if (ours === 'rule' && parseAward(text) === undefined)
    return fault(`${show(text)} begins with "rule:", which only stands before a rule, a period and a member`);
  return text;
}

function likeOurs(text: string): string | undefined {
  const first = text.charAt(0);
  // Nearly every reference begins otherwise, and a million of them pass here.
  if (first < '\u0080' && !'uUrR'.includes(first)) return undefined;
  return LIKE_OURS.exec(text.slice(0, LIKE_OURS_CHARACTERS).normalize('NFKC'))?.[1]?.toLowerCase();
}

/** An award is its member's: under another one's reference, that one would be taken for rewarded. */
export function awardFault(reference: string, { member, recipient }: Order): CellFault | undefined {
  const award = parseAward(reference);
  if (award === undefined || !isMemberId(award.member) || award.member === (recipient ?? member))
    return undefined;
  return fault(`${show(reference)} is an award to ${award.member}; the row pays ${recipient ?? member}`);
}

function fault(found: string): CellFault {
  return { code: 'ALM_ROW_REFERENCE_INVALID', message: `${found}.` };
}
