import { messageOf } from '../core/errors/error.js';
import { show } from '../core/visible.js';
import { INTAKE_LIMITS } from './open.js';

/**
 * Rows that a program hands over, taken as texts at once: whatever it does with its list and its objects afterwards, what
 * it gave is what is planned. Each known field is asked for by its name and once, so that it does not matter whether it is
 * a value, an accessor or inherited: a reference that is passed over in silence is a payment made twice. What no file can
 * hold is refused here by name: a number that has lost digits, text that is none, a field nobody knows.
 */
export const FIELDS = ['member', 'tokens', 'recipient', 'op', 'reference', 'reason'] as const;
/** The order that a row stands in for: a column of our reports, and so the last and no part of the sheet. */
const REPLACES = 'replaces';
/** Columns without a meaning of their own, which come back in the report. */
const FURTHER = 'columns';
const TEXTS = [...FIELDS, REPLACES] as const;
const KNOWN: readonly string[] = [...TEXTS, FURTHER];

export type TakenRow = {
  /** What the program left out is not there. */
  readonly texts: Readonly<Partial<Record<(typeof TEXTS)[number], string>>>;
  readonly further: ReadonlyMap<string, string>;
  readonly faults: readonly TakenFault[];
};

type TakenFault = { readonly column: string | null; readonly message: string };

/** One more than may be read is enough to refuse them. */
export function takeRows(rows: readonly unknown[]): TakenRow[] {
  // Not `map`, which passes over the holes of a list.
  return Array.from(rows.slice(0, INTAKE_LIMITS.rowsMax + 1), takeRow);
}

function takeRow(given: unknown): TakenRow {
  const texts: Partial<Record<string, string>> = {};
  const further = new Map<string, string>();
  const faults: TakenFault[] = [];
  const refuse = (column: string | null, message: string) => faults.push({ column, message: `${message}.` });
  const take = (column: string, value: unknown, into: (text: string) => void): void => {
    if (value === undefined) return;
    const fault = column === 'tokens' ? amountFault(value) : textFault(value);
    if (fault !== null) refuse(column, `${column}: ${fault}`);
    into(['object', 'symbol', 'function'].includes(typeof value) ? '' : String(value));
  };
  try {
    if (!isObject(given)) {
      refuse(null, `expected an object for each row, got ${kindOf(given)}`);
      return { texts, further, faults };
    }
    for (const name of Object.keys(given))
      if (!KNOWN.includes(name)) refuse(null, `a row has no field ${show(name)}; it has ${KNOWN.join(', ')}`);
    for (const name of TEXTS)
      take(name, given[name], (text) => {
        texts[name] = text;
      });
    const more = given[FURTHER];
    if (isPlain(more))
      for (const [name, value] of Object.entries(more)) take(name, value, (text) => further.set(name, text));
    else if (more !== undefined)
      refuse(FURTHER, `columns: expected a plain object of texts, got ${kindOf(more)}`);
  } catch (error) {
    refuse(null, `the row cannot be read: ${messageOf(error)}`);
  }
  return { texts, further, faults };
}

function textFault(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'bigint')
    return `expected text, got the number ${value}; ids and references are strings, because a JavaScript number has no room for 17 digits`;
  if (typeof value !== 'string') return `expected text, got ${kindOf(value)}`;
  return isWellFormed(value) ? null : `${show(value)} holds half of a character (a lone surrogate)`;
}

function amountFault(value: unknown): string | null {
  if (typeof value === 'bigint') return null;
  if (typeof value !== 'number') return textFault(value);
  return Number.isSafeInteger(value)
    ? null
    : `${value} is no whole number that a JavaScript number holds exactly; give a bigint or digits`;
}

/** Written as UTF-8, each half of a surrogate pair becomes the same replacement, and two references one. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

/** What a value is called where something else was expected. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (!isObject(value) || isPlain(value)) return typeof value;
  return `an object of class ${Object.getPrototypeOf(value).constructor?.name || 'without a name'}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object literal, also of another context: a Map or a class has its content elsewhere than in its own keys. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
