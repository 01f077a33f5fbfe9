import type { ErrorCode } from '../core/errors/catalogue.js';
import { isMemberId, MEMBER_ID_DIGITS_MAX, type MemberId } from '../core/ids.js';
import { textOf } from './spreadsheet-text.js';
import { foreignDigitIn, invisibleIn, nameOf, show } from './visible.js';

export type CellFault = { readonly code: ErrorCode; readonly message: string };

const EXPECTED = `expected 1 to ${MEMBER_ID_DIGITS_MAX} decimal digits`;

/**
 * Reads an id. Plain blanks around it are taken off without a word: they are never part of an id and every
 * spreadsheet leaves some. Everything else that is not a digit is refused and named; a repaired id would be
 * somebody else's.
 */
export function readMemberCell(cell: string): MemberId | CellFault {
  if (isMemberId(cell)) return cell;
  const text = trimBlanks(textOf(trimBlanks(cell)));
  return isMemberId(text) ? text : memberFault(text);
}

/**
 * Spaces and tabs only: String.trim also takes characters that have to be named. A loop, because a pattern
 * such as / +$/ takes quadratic time on a cell of a million blanks.
 */
export function trimBlanks(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return to - from === text.length ? text : text.slice(from, to);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function memberFault(text: string): CellFault {
  if (/^[-+]?[0-9]+([.,][0-9]+)?[eE][+-]?[0-9]+$/.test(text))
    return {
      code: 'ALM_ROW_ID_DIGITS_LOST',
      message: `${show(text)} is an id in scientific notation: a spreadsheet has cut off its last digits. Format the column as text before the ids are put in, and export again.`,
    };
  return { code: 'ALM_ROW_ID_INVALID', message: `${what(text)}; ${EXPECTED}.` };
}

function what(text: string): string {
  if (text === '') return 'The id is empty';
  const foreign = foreignDigitIn(text);
  if (foreign !== undefined) return `${show(text)} holds ${nameOf(foreign)}, a digit that is not 0 to 9`;
  const invisible = invisibleIn(text);
  if (invisible !== undefined) return `${show(text)} holds ${nameOf(invisible)}, which cannot be seen`;
  if (/^[-+][0-9]+$/.test(text)) return `${show(text)} has a sign`;
  if (/^[0-9]+$/.test(text)) return `${show(text)} has ${text.length} digits`;
  if (/^[0-9 ]+$/.test(text)) return `${show(text)} has blanks inside`;
  if (/^[0-9]{1,3}([.,'’][0-9]{3})+$/.test(text)) return `${show(text)} has thousands separators`;
  if (/^[0-9]+[.,][0-9]*$/.test(text)) return `${show(text)} has a decimal point`;
  if (/^<@!?[0-9]+>$/.test(text)) return `${show(text)} is a mention; the id is the digits inside it`;
  if (/^0x[0-9a-f]{40}$/i.test(text)) return `${show(text)} is a wallet address`;
  if (text.startsWith('=')) return `${show(text)} is a formula`;
  return `${show(text)} is not an id`;
}
