import { isRecordedMemberId, type MemberId } from './ids.js';
import type { Op } from './order.js';
import { parseTokens } from './points.js';

/** What a text in the search field can mean. All meanings are looked for, and each hit says by which it was found. */

export const FIND_BY = ['batch', 'order', 'file', 'reference', 'member', 'amount', 'day'] as const;
export type FindBy = (typeof FIND_BY)[number];

export type Meanings = {
  /** The beginning of a batch's id. */
  readonly batch: string | null;
  /** The beginning of a batch's id, and a row of it. */
  readonly order: { readonly batch: string; readonly index: number } | null;
  /** A part of a file's or rule's name, whatever its case. */
  readonly file: string | null;
  /** The whole reference, letter by letter. */
  readonly reference: string | null;
  readonly member: MemberId | null;
  /** With a sign only what gives (+) or takes (-). */
  readonly amount: { readonly tokens: number; readonly op: Op | null } | null;
  /** From midnight to midnight in UTC, like the cap of a day. */
  readonly day: { readonly name: string; readonly fromMs: number; readonly toMs: number } | null;
};

export const FIND_TEXT_MAX = 200;

/** Short parts of names and ids would find everything. */
const PART_MIN = 2;
const DAY_MS = 86_400_000;

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

/** Digits, or with commas before every three, as amounts are printed everywhere: `1,000` is no other number. */
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
  // The 31st of June is read as the 1st of July.
  return day?.name === written ? day : null;
}

function dayAt(ms: number): Meanings['day'] {
  const fromMs = Math.floor(ms / DAY_MS) * DAY_MS;
  return { name: new Date(fromMs).toISOString().slice(0, 10), fromMs, toMs: fromMs + DAY_MS };
}
