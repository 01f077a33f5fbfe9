/**
 * Points are whole numbers. One order's amount fits a JavaScript safe integer. A sum may not, so every sum is a
 * BigInt and is printed as a string of digits.
 */

declare const tokensBrand: unique symbol;

/** The amount of one order: a positive safe integer. The direction is in the order's `op`. */
export type Tokens = number & { readonly [tokensBrand]: true };

export const TOKENS_MAX = Number.MAX_SAFE_INTEGER;

/** Redis keeps sums as signed 64-bit integers. Planning refuses a batch with a larger sum. */
export const BATCH_SUM_MAX = 2n ** 63n - 1n;

/**
 * The most that the ledger records for one rule and period, even if the rule has no limit. Lua computes with doubles:
 * a larger sum would be rounded when reserved, but not when returned. ledger/includes/account.lua has the same
 * number.
 */
export const ACCOUNT_MOST = BigInt(Number.MAX_SAFE_INTEGER);

export function isTokens(value: number): value is Tokens {
  return Number.isSafeInteger(value) && value > 0;
}

export function tokens(value: number): Tokens {
  if (!isTokens(value)) throw new RangeError(`expected a positive safe integer of tokens, got ${value}`);
  return value;
}

/** An amount and its sign as a file wrote them. */
export type SignedTokens = { readonly negative: boolean; readonly amount: Tokens };

export type TokensFault =
  | 'empty'
  | 'thousands-separator'
  | 'decimal'
  | 'exponent'
  | 'hexadecimal'
  | 'zero'
  | 'too-large'
  | 'blank-inside'
  | 'not-a-number';

/**
 * Reads `-?[0-9]+` and no other form. Each refused form has a fault of its own, so that the message can explain it.
 */
export function parseTokens(text: string): SignedTokens | { readonly fault: TokensFault } {
  if (/^-?[0-9]+$/.test(text)) {
    const negative = text.startsWith('-');
    const digits = (negative ? text.slice(1) : text).replace(/^0+(?=\d)/, '');
    if (digits === '0') return { fault: 'zero' };
    if (digits.length > 16) return { fault: 'too-large' };
    const amount = Number(digits);
    return isTokens(amount) ? { negative, amount } : { fault: 'too-large' };
  }
  return { fault: tokensFault(text) };
}

function tokensFault(text: string): TokensFault {
  if (text === '') return 'empty';
  if (/^[-+]?0x[0-9a-f]+$/i.test(text)) return 'hexadecimal';
  if (/^[-+]?[0-9]+([.,][0-9]+)?e[-+]?[0-9]+$/i.test(text)) return 'exponent';
  if (/^[-+]?[0-9]{1,3}([.,'’\u00a0\u202f ][0-9]{3})+$/.test(text)) return 'thousands-separator';
  if (/^[-+]?[0-9]*[.,][0-9]+$/.test(text) || /^[-+]?[0-9]+[.,]$/.test(text)) return 'decimal';
  if (/^[-+0-9][-+0-9\s]*$/.test(text)) return 'blank-inside';
  return 'not-a-number';
}

/** Adds up millions of amounts exactly. It uses a BigInt only when a JavaScript number would round. */
export class PointsSum {
  #carried = 0n;
  #running = 0;

  add(amount: Tokens): void {
    const next = this.#running + amount;
    if (Number.isSafeInteger(next)) {
      this.#running = next;
      return;
    }
    this.#carried += BigInt(this.#running);
    this.#running = amount;
  }

  get total(): bigint {
    return this.#carried + BigInt(this.#running);
  }
}
