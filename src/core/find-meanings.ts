import { isRecordedMemberId, type MemberId } from './ids.js';
import type { Op } from './order.js';
import { parseTokens } from './points.js';

/**
 * The ways in which a search text can be understood. The search tries all of them, and each hit names the one that
 * found it.
 */

export const FIND_BY = ['batch', 'order', 'file', 'reference', 'member', 'amount', 'day'] as const;
export type FindBy = (typeof FIND_BY)[number];

/** All meanings of a search text; null where it has none. */
export type Meanings = {
  /** The beginning of a batch id. */
  readonly batch: string | null;
  /** The beginning of a batch id, followed by a row number. */
  readonly order: { readonly batch: string; readonly index: number } | null;
  /** Part of a file's or rule's name, in any case. */
  readonly file: string | null;
  /** The whole reference, exactly as written. */
  readonly reference: string | null;
  readonly member: MemberId | null;
  /** An amount. A sign restricts it to orders that give (+) or take (-). */
  readonly amount: { readonly tokens: number; readonly op: Op | null } | null;
  /** From midnight to midnight in UTC, as for the daily cap. */
  readonly day: { readonly name: string; readonly fromMs: number; readonly toMs: number } | null;
};

export const FIND_TEXT_MAX = 200;

/** A shorter text would match nearly every name and id. */
const PART_MIN = 2;
const DAY_MS = 86_400_000;

/** Works out all meanings of a search text, or only the one that `by` asks for. */
export function meaningsOf(given: string, by: FindBy | null, nowMs: number): Meanings {
  const text = given.trim();
  const order = /^(.+)-([1-9][0-9]{0,8})$/.exec(text);
  const all: Meanings = {
    batch: text.length >= PART_MIN ? text.toLowerCase() : null,
    order: order === null ? null : { batch: (order[1] ?? '').toLowerCase(), index: Number(order[2]) },
    file: text.length >= PART_MIN ? text.toLowerCase() : null,
    reference: text === '' ? null : text,
    member: isRecordedMemberId(text) ? text : null,
    amount: amountOf(text),
    day: dayOf(text.toLowerCase(), nowMs),
  };
  return by === null ? all : { ...NOTHING, [by]: all[by] };
}

const NOTHING: Meanings = {
  batch: null,
  order: null,
  file: null,
  reference: null,
  member: null,
  amount: null,
  day: null,
};

/** Reads digits, also with commas between groups of three as amounts are printed: `1,000` can only mean 1000. */
function amountOf(text: string): Meanings['amount'] {
  const match = /^([+-]?)([1-9][0-9]*|[1-9][0-9]{0,2}(?:,[0-9]{3})+)$/.exec(text);
  const read = parseTokens((match?.[2] ?? '').replaceAll(',', ''));
  if ('fault' in read) return null;
  return { tokens: read.amount, op: match?.[1] === '+' ? 'credit' : match?.[1] === '-' ? 'debit' : null };
}

function dayOf(text: string, nowMs: number): Meanings['day'] {
  if (text === 'today') return dayAt(nowMs);
  if (text === 'yesterday') return dayAt(nowMs - DAY_MS);
  const written = text.replace(/^(20\d{2})(\d{2})(\d{2})$/, '$1-$2-$3');
  const atMs = /^\d{4}-\d{2}-\d{2}$/.test(written) ? Date.parse(written) : Number.NaN;
  const day = Number.isNaN(atMs) ? null : dayAt(atMs);
  // Date.parse reads 31 June as 1 July; such a text is not a day.
  return day?.name === written ? day : null;
}

function dayAt(ms: number): Meanings['day'] {
  const fromMs = Math.floor(ms / DAY_MS) * DAY_MS;
  return { name: new Date(fromMs).toISOString().slice(0, 10), fromMs, toMs: fromMs + DAY_MS };
}
