import { parseTokens, type SignedTokens, TOKENS_MAX, type TokensFault } from '../core/points.js';
import { foreignDigitIn, invisibleIn, nameOf, show, textOf } from '../core/visible.js';
import { type CellFault, trimBlanks } from './member-cell.js';

const EXPECTED = 'expected a whole number in plain digits, for example 1000 or -5';

/** Reads an amount. Plain blanks around it do not matter; nothing else is guessed: 1.000 is one or a thousand. */
export function readTokensCell(cell: string, maxTokensPerOrder: number | null): SignedTokens | CellFault {
  const text = trimBlanks(textOf(trimBlanks(cell)));
  const read = parseTokens(text);
  if ('fault' in read) return tokensFault(text, read.fault);
  if (maxTokensPerOrder !== null && read.amount > maxTokensPerOrder)
    return {
      code: 'ALM_ROW_TOKENS_OVER_CAP',
      message: `${show(text)} is above the cap of ${maxTokensPerOrder} for one order.`,
    };
  return read;
}

function tokensFault(text: string, fault: TokensFault): CellFault {
  switch (fault) {
    case 'empty':
      return invalid('The amount is empty');
    case 'plus-sign':
      return invalid(`${show(text)} has a plus sign`);
    case 'thousands-separator':
      return invalid(`${show(text)} has a thousands separator, or is a decimal fraction`);
    case 'decimal':
      return invalid(`${show(text)} is a decimal fraction; points are whole`);
    case 'exponent':
      return invalid(`${show(text)} is in scientific notation; format the column as a whole number`);
    case 'hexadecimal':
      return invalid(`${show(text)} is hexadecimal`);
    case 'zero':
      return { code: 'ALM_ROW_TOKENS_ZERO', message: `${show(text)} pays nothing; ${EXPECTED}.` };
    case 'too-large':
      return {
        code: 'ALM_ROW_TOKENS_TOO_LARGE',
        message: `${show(text)} is above ${TOKENS_MAX}, the largest exact amount; is it an id in the wrong column?`,
      };
    case 'blank-inside':
    case 'not-a-number':
      return invalid(oddCharacter(text) ?? `${show(text)} is not a number`);
    default:
      return fault satisfies never;
  }
}

function oddCharacter(text: string): string | undefined {
  const foreign = foreignDigitIn(text);
  if (foreign !== undefined) return `${show(text)} holds ${nameOf(foreign)}, a digit that is not 0 to 9`;
  if (text.includes('\u2212'))
    return `${show(text)} holds ${nameOf('\u2212')} instead of the plain minus "-"`;
  const invisible = invisibleIn(text);
  if (invisible !== undefined) return `${show(text)} holds ${nameOf(invisible)}, which cannot be seen`;
  return text.includes(' ') ? `${show(text)} has blanks inside` : undefined;
}

function invalid(found: string): CellFault {
  return { code: 'ALM_ROW_TOKENS_INVALID', message: `${found}; ${EXPECTED}.` };
}
