import { messageOf } from '../core/errors/error.js';
import { show } from '../core/visible.js';
import { INTAKE_LIMITS } from './open.js';

/**
 * Copies the rows of a program into texts immediately, so that later changes to its list and objects have no effect.
 * Each known field is read by its name, exactly once. It may be a value, an accessor or inherited: a reference that
 * was silently missed would become a second payment. Values that no file can hold are refused by name: a number that
 * lost digits, text that is not well-formed, an unknown field.
 */
export const FIELDS = ['member', 'tokens', 'recipient', 'op', 'reference', 'reason'] as const;
/**
 * Names the order that a row stands in for. It is a column of almoner's reports, so it comes last and is no part of
 * the sheet.
 */
const REPLACES = 'replaces';
/** Columns without a meaning, which come back in the report. */
const FURTHER = 'columns';
const TEXTS = [...FIELDS, REPLACES] as const;
const KNOWN: readonly string[] = [...TEXTS, FURTHER];

/** The texts of one row, copied when the program passed it in. */
export type TakenRow = {
  /** Fields that the program omitted are absent. */
  readonly texts: Readonly<Partial<Record<(typeof TEXTS)[number], string>>>;
  readonly further: ReadonlyMap<string, string>;
  readonly faults: readonly TakenFault[];
};

type TakenFault = { readonly column: string | null; readonly message: string };

/** Copies one row more than the limit, which is enough to refuse the rest. */
export function takeRows(rows: readonly unknown[]): TakenRow[] {
  // Array.from, not `map`: `map` skips the holes of a list.
  return Array.from(rows.slice(0, INTAKE_LIMITS.rowsMax + 1), takeRow);
}

/** Copies one row. Values with the wrong type become faults of that row, so that all faults are reported together. */
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
    return `expected text, got the number ${value}; ids and references are strings, because a JavaScript number cannot hold 17 digits`;
  if (typeof value !== 'string') return `expected text, got ${kindOf(value)}`;
  return isWellFormed(value) ? null : `${show(value)} holds half of a character (a lone surrogate)`;
}

function amountFault(value: unknown): string | null {
  if (typeof value === 'bigint') return null;
  if (typeof value !== 'number') return textFault(value);
  return Number.isSafeInteger(value)
    ? null
    : `${value} is not a whole number that a JavaScript number holds exactly; pass a bigint or a string of digits`;
}

/**
 * False for a lone half of a surrogate pair. Written as UTF-8, each half becomes the same replacement character, so
 * two references would become equal.
 */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

/** Names the kind of a value, for the message of a fault. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (!isObject(value) || isPlain(value)) return typeof value;
  return `an object of class ${Object.getPrototypeOf(value).constructor?.name || 'without a name'}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * True for an object literal, also of another context. A Map or a class instance keeps its content elsewhere than in
 * own keys.
 */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
