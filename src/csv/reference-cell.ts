import { parseOrderId, UNDO } from '../core/ids.js';
import type { Order } from '../core/order.js';
import { parseAward } from '../ledger/accounts.js';
import type { CellFault } from './member-cell.js';
import { textOf } from './spreadsheet-text.js';
import { invisibleIn, nameOf, show } from './visible.js';

export const REFERENCE_CHARACTERS_MAX = 200;
/** Also in wide letters, or with blanks: what looks like an undo or an award is one, or is refused. */
const LIKE_OURS = /^(undo|rule):/i;

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
    return fault(
      `${show(text)} begins with "rule:", which only stands before a rule, a period and a member as a run of that rule spells them, such as rule:thanks:2026-W46:119837460192837465`,
    );
  return text;
}

function likeOurs(text: string): string | undefined {
  const first = text.charAt(0);
  // Nearly every reference begins otherwise, and a million of them pass here.
  if (first < '\u0080' && !'uUrR'.includes(first)) return undefined;
  return LIKE_OURS.exec(text.normalize('NFKC').replace(/\s+/g, ''))?.[1]?.toLowerCase();
}

/**
 * An award is its member's: under another one's reference, or by a row that takes points, that one would be taken for
 * rewarded. Rules that take points exist; a row that stands in for such an order is compared with it (judge-stand-in).
 */
export function awardFault(reference: string, order: Order, standsIn: boolean): CellFault | undefined {
  const award = parseAward(reference);
  if (award === undefined) return undefined;
  const moved = order.recipient ?? order.member;
  if (award.member !== moved)
    return fault(`${show(reference)} is an award to ${award.member}; the row pays ${moved}`);
  if (order.op !== 'debit' || standsIn) return undefined;
  return fault(
    `${show(reference)} is an award to ${moved}; the row takes points, which only a run of a rule with \`op: debit\` does, or a row of its report that names its almoner_order`,
  );
}

function fault(found: string): CellFault {
  return { code: 'ALM_ROW_REFERENCE_INVALID', message: `${found}.` };
}
