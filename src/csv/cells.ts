import type { ErrorCode } from '../core/errors/catalogue.js';
import {
  hasLeadingZero,
  isMemberId,
  MEMBER_ID_EXPECTED,
  type MemberId,
  parseOrderId,
  UNDO,
} from '../core/ids.js';
import type { Order } from '../core/order.js';
import { parseTokens, type SignedTokens, TOKENS_MAX, type TokensFault } from '../core/points.js';
import { parseAward } from '../core/reference.js';
import { foreignDigitIn, invisibleIn, nameOf, show, textOf } from '../core/visible.js';

/** A fault of a single cell. The caller adds line and column. */
export type CellFault = { readonly code: ErrorCode; readonly message: string };

/** An unusual spelling with a single meaning. The reader accepts it, and the plan mentions it. */
export type CellNote = 'mention' | 'apostrophe' | 'plus' | 'zeros';
/** Called for each such spelling. Callers without it accept them silently. */
export type OnNote = (note: CellNote, read: string) => void;

/**
 * Reads a member id. Blanks around it are dropped silently: they are never part of an id, and every spreadsheet
 * leaves some. A mention (`<@119…>`), and the apostrophe that makes a spreadsheet keep all digits, hold exactly one
 * id. Any other character that is not a digit is refused by name; a guessed repair could pay another member.
 */
export function readMemberCell(cell: string, onNote?: OnNote): MemberId | CellFault {
  if (isMemberId(cell)) return cell;
  const text = trimBlanks(textOf(trimBlanks(cell)));
  if (isMemberId(text)) return text;
  const inside = /^(?:<@!?([0-9]+)>|'([0-9]+))$/.exec(text);
  const id = inside?.[1] ?? inside?.[2] ?? '';
  if (!isMemberId(id)) return memberFault(hasLeadingZero(id) ? id : text);
  onNote?.(inside?.[1] === undefined ? 'apostrophe' : 'mention', id);
  return id;
}

/**
 * Removes spaces and tabs only. String.trim also removes characters that a fault must name. A loop, because a pattern
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

/** Explains why a cell is not a member id. */
function memberFault(text: string): CellFault {
  if (/^[-+]?[0-9]+([.,][0-9]+)?[eE][+-]?[0-9]+$/.test(text))
    return {
      code: 'ALM_ROW_ID_DIGITS_LOST',
      message: `${show(text)} is an id in scientific notation: a spreadsheet has cut off its last digits. Format the column as text before the ids are put in, and export again.`,
    };
  if (hasLeadingZero(text))
    return {
      code: 'ALM_ROW_ID_LEADING_ZERO',
      message: `${show(text)} begins with a zero. A realm that reads numbers would take it for ${text.replace(/^0+(?=[0-9])/, '')}, another member. Write the id as its source shows it, without leading zeros.`,
    };
  return { code: 'ALM_ROW_ID_INVALID', message: `${what(text)}; expected ${MEMBER_ID_EXPECTED}.` };
}

/** Describes why the text is not an id. */
function what(text: string): string {
  if (text === '') return 'The id is empty';
  const deceiving = deceivingIn(text);
  if (deceiving !== undefined) return deceiving;
  if (/^[-+][0-9]+$/.test(text)) return `${show(text)} has a sign`;
  if (/^[0-9]+$/.test(text)) return `${show(text)} has ${text.length} digits`;
  if (/^[0-9 ]+$/.test(text)) return `${show(text)} has blanks inside`;
  if (/^[0-9]{1,3}([.,'’][0-9]{3})+$/.test(text)) return `${show(text)} has thousands separators`;
  if (/^[0-9]+[.,][0-9]*$/.test(text)) return `${show(text)} has a decimal point`;
  if (/^<[@#:a-z]/i.test(text)) return `${show(text)} is not a mention of a member`;
  if (/^0x[0-9a-f]{40}$/i.test(text))
    return `${show(text)} is a wallet address; --members FILE gives a table that turns wallets into members`;
  if (text.startsWith('=')) return `${show(text)} is a formula`;
  return `${show(text)} is not an id`;
}

/** Finds characters that look like plain digits on a screen but are not. */
function deceivingIn(text: string): string | undefined {
  const foreign = foreignDigitIn(text);
  if (foreign !== undefined) return `${show(text)} holds ${nameOf(foreign)}, a digit that is not 0 to 9`;
  const invisible = invisibleIn(text);
  return invisible && `${show(text)} holds ${nameOf(invisible)}, which cannot be seen`;
}

const REFERENCE_CHARACTERS_MAX = 200;
/**
 * Text that looks like an undo or award reference, also in wide letters or with blanks. It must be a valid one, or it
 * is refused.
 */
const LIKE_OURS = /^(undo|rule):/i;

/**
 * Reads a reference; null for an empty cell. References are compared letter by letter with those already spent.
 * Invisible characters are refused, so that two references that look the same are the same.
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
    return fault(
      `${show(text)} begins with "undo:", which is only allowed before an order’s id in undo files`,
    );
  if (ours === 'rule' && parseAward(text) === undefined)
    return fault(
      `${show(text)} begins with "rule:", which is only allowed before a rule, a period and a member, spelt as a run of that rule spells them, such as rule:thanks:2026-W46:119837460192837465`,
    );
  return text;
}

/** Returns `undo` or `rule` if the reference looks like one of almoner's own. */
function likeOurs(text: string): string | undefined {
  const first = text.charAt(0);
  // Fast path: nearly every reference begins with another letter, and planning checks a million of them.
  if (first < '\u0080' && !'uUrR'.includes(first)) return undefined;
  return LIKE_OURS.exec(text.normalize('NFKC').replace(/\s+/g, ''))?.[1]?.toLowerCase();
}

/**
 * Refuses a row that uses another member's award reference, or that takes points under one. Otherwise that member
 * would count as rewarded. Rules that take points exist; a row that stands in for such an order is compared with it
 * (`judgeStandIn`).
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

const TOKENS_EXPECTED = 'expected a whole number in plain digits, for example 1000 or -5';

/**
 * Reads an amount. Blanks around it do not matter. A plus sign has one meaning, and so have one or two zeros after a
 * point or comma, because no thousands group has them. Nothing else is guessed: 1.000 may be one or a thousand.
 */
export function readTokensCell(
  cell: string,
  maxTokensPerOrder: number | null,
  onNote?: OnNote,
): SignedTokens | CellFault {
  const text = trimBlanks(textOf(trimBlanks(cell)));
  const plain = parseTokens(text);
  const written = 'fault' in plain ? /^([-+]?)([0-9]+)([.,]00?)?$/.exec(text) : null;
  const [, sign, digits = '', zeros] = written ?? [];
  const read = written === null ? plain : parseTokens(sign === '-' ? `-${digits}` : digits);
  if ('fault' in read) return tokensFault(text, read.fault);
  if (maxTokensPerOrder !== null && read.amount > maxTokensPerOrder)
    return {
      code: 'ALM_ROW_TOKENS_OVER_CAP',
      message: `${show(text)} is above the cap of ${maxTokensPerOrder} for one order.`,
    };
  if (sign === '+') onNote?.('plus', signed(read));
  if (zeros !== undefined) onNote?.('zeros', signed(read));
  return read;
}

function signed({ negative, amount }: SignedTokens): string {
  return `${negative ? '-' : ''}${amount}`;
}

function tokensFault(text: string, fault: TokensFault): CellFault {
  const shown = show(text);
  if (fault === 'too-large')
    return {
      code: 'ALM_ROW_TOKENS_TOO_LARGE',
      message: `${shown} is above ${TOKENS_MAX}, the largest exact amount; is it an id in the wrong column?`,
    };
  const found: Readonly<Record<Exclude<TokensFault, 'too-large'>, string>> = {
    empty: 'The amount is empty',
    'thousands-separator': `${shown} has a thousands separator, or is a decimal fraction: format the column as a number without separators and decimals, and export again`,
    decimal: `${shown} is a decimal fraction; points are whole`,
    exponent: `${shown} is in scientific notation; format the column as a whole number`,
    hexadecimal: `${shown} is hexadecimal`,
    zero: `${shown} pays nothing`,
    'blank-inside': oddCharacter(text) ?? `${shown} is not a number`,
    'not-a-number': oddCharacter(text) ?? `${shown} is not a number`,
  };
  const code = fault === 'zero' ? 'ALM_ROW_TOKENS_ZERO' : 'ALM_ROW_TOKENS_INVALID';
  return { code, message: `${found[fault]}; ${TOKENS_EXPECTED}.` };
}

function oddCharacter(text: string): string | undefined {
  if (text.includes('\u2212'))
    return `${show(text)} holds ${nameOf('\u2212')} instead of the plain minus "-"`;
  return deceivingIn(text) ?? (text.includes(' ') ? `${show(text)} has blanks inside` : undefined);
}
