import { isLosslessNumber } from 'lossless-json';
import { Fraction } from '../core/fraction.js';
import { wallOf } from '../core/zones.js';
import { periodName } from './calendar.js';
import type { Rule } from './rule.js';

/**
 * Converts facts to CEL values. Whole numbers become exact integers, other numbers exact fractions. A whole number
 * beyond 64 bits is an id and stays text. A null counts as absent, so the member is left out and listed; counting it
 * as zero would pay wrongly.
 */
const INT_MAX = 2n ** 63n - 1n;
const DEPTH_MAX = 32;

/** Converts a JSON value to a CEL value, up to a depth limit. */
export function celValue(value: unknown, depth = 0): unknown {
  if (isLosslessNumber(value)) return celNumber(value.value);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  if (depth > DEPTH_MAX) return undefined;
  if (Array.isArray(value))
    return value.map((item) => celValue(item, depth + 1)).filter((item) => item !== undefined);
  return celMap(Object.entries(value).map(([name, item]) => [name, celValue(item, depth + 1)]));
}

/** Makes a map without a prototype, so that a fact named `constructor` is an ordinary fact. */
export function celMap(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const map: Record<string, unknown> = Object.create(null);
  for (const [name, item] of entries) if (item !== undefined && item !== null) map[name] = item;
  return map;
}

function celNumber(digits: string): unknown {
  if (!/^-?[0-9]+$/.test(digits)) return Fraction.parse(digits) ?? digits;
  if (digits.length > 20) return digits;
  const whole = BigInt(digits);
  return whole > INT_MAX || whole < -INT_MAX ? digits : whole;
}

/** Up to 15 digits are read as a number. Longer values and values with leading zeros are ids and stay text. */
const WHOLE = /^-?(0|[1-9][0-9]{0,14})$/;
const FRACTION = /^-?(0|[1-9][0-9]{0,14})\.[0-9]{1,15}$/;

/** Converts a cell of the audience: to a number, true, false, or its text. An empty cell is absent. */
export function celCell(cell: string): unknown {
  const text = cell.trim();
  if (text === '') return undefined;
  if (WHOLE.test(text)) return BigInt(text);
  if (FRACTION.test(text)) return Fraction.parse(text);
  const word = text.toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : text;
}

/** Writes a value for people and JSON, in the form that an expression would use. */
export function spellValue(value: unknown): string {
  if (typeof value === 'bigint' || typeof value === 'boolean' || value instanceof Fraction)
    return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value === undefined || value === null) return 'null';
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' || inner instanceof Fraction ? String(inner) : inner,
  );
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The fields of `run` in an expression: the time of the run in the rule's time zone. */
export const RUN_FIELDS = ['at', 'date', 'year', 'month', 'day', 'weekday', 'hour', 'period'] as const;

/** The variable `run` of an expression. */
export function runFacts(rule: Pick<Rule, 'period' | 'zone'>, at: number): Record<string, unknown> {
  const wall = new Date(wallOf(at, rule.zone));
  return celMap([
    ['at', new Date(at)],
    ['date', periodName('day', at, rule.zone)],
    ['year', BigInt(wall.getUTCFullYear())],
    ['month', BigInt(wall.getUTCMonth() + 1)],
    ['day', BigInt(wall.getUTCDate())],
    ['weekday', BigInt(wall.getUTCDay() || 7)],
    ['hour', BigInt(wall.getUTCHours())],
    ['period', periodName(rule.period, at, rule.zone)],
  ]);
}
