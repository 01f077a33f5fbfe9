import { createHash } from 'node:crypto';
import type { OrderMark, OrderState } from '../core/states.js';
import { ALWAYS_WRITTEN, type FieldName, namesOf } from './record-fields.js';

/** Decodes and encodes the record of an order, by the table in record-fields.ts. */

export const STATE_CODES = {
  w: 'planned',
  p: 'planned',
  s: 'sending',
  P: 'paid',
  R: 'refused',
  X: 'exhausted',
  u: 'unknown',
  D: 'doubt',
  d: 'duplicate',
  i: 'invalid',
  c: 'cancelled',
} as const satisfies Record<string, OrderState>;
export type StateCode = keyof typeof STATE_CODES;

export const CODE_OF_STATE: Readonly<Record<OrderState, StateCode>> = {
  planned: 'p',
  sending: 's',
  paid: 'P',
  refused: 'R',
  exhausted: 'X',
  unknown: 'u',
  doubt: 'D',
  duplicate: 'd',
  invalid: 'i',
  cancelled: 'c',
};

/** What a move makes of an order. One that is `planned` again waits for its next attempt. */
export const MOVED_CODE = {
  planned: 'w',
  paid: 'P',
  refused: 'R',
  exhausted: 'X',
  unknown: 'u',
  doubt: 'D',
} as const satisfies Partial<Record<OrderState, StateCode>>;
export type MovedTo = keyof typeof MOVED_CODE;

const EVIDENCES = ['answer', 'key', 'readback', 'operator'] as const;
export type Evidence = (typeof EVIDENCES)[number];
export const EVIDENCE_CODE = { answer: 'a', key: 'k', readback: 'r', operator: 'o' } as const;

export type OrderRecord = {
  readonly code: StateCode;
  /** The number in the order's key. */
  readonly keyNumber: number;
  /** The store's time of the key's first use, from which its life counts; null where it was never used. */
  readonly keyFirstAt: number | null;
  readonly attempts: number;
  /** Attempts used up since the order was planned or last retried by a person. */
  readonly tries: number;
  readonly status: number | null;
  readonly balance: string | null;
  readonly sentAt: number | null;
  readonly tookMs: number | null;
  readonly evidence: Evidence | null;
  readonly marks: readonly OrderMark[];
  /** The number of the batch that replaced it. */
  readonly replacedBy: string | null;
  /** Called unpaid so early that its request may still arrive until then, by the store's clock. */
  readonly arrivesUntil: number | null;
  /** The session that is sending it; null otherwise. */
  readonly session: string | null;
  /** The nonce of the last attempt; null where there was none, two attempts met, or the order is paid. */
  readonly nonce: string | null;
  /** The mark of the attempt that paid it (see `nonceMark`); null where it is not paid. */
  readonly paidBy: string | null;
  /** The number of its last doubt; null where it never was in doubt. */
  readonly doubt: string | null;
};

export const NEVER_SENT: OrderRecord = {
  code: 'p',
  keyNumber: 1,
  keyFirstAt: null,
  attempts: 0,
  tries: 0,
  status: null,
  balance: null,
  sentAt: null,
  tookMs: null,
  evidence: null,
  marks: [],
  replacedBy: null,
  arrivesUntil: null,
  session: null,
  nonce: null,
  paidBy: null,
  doubt: null,
};

/** What the record of a paid order keeps of its attempt. As in includes/record.lua. */
export function nonceMark(nonce: string): string {
  return createHash('sha1').update(nonce).digest('hex').slice(0, 6);
}

export function isStateCode(text: string): text is StateCode {
  return Object.hasOwn(STATE_CODES, text);
}

/** The state that a script answers with; null where that is none. */
export function stateOfCode(text: string | undefined): OrderState | null {
  return text !== undefined && isStateCode(text) ? STATE_CODES[text] : null;
}

type Fields<Value> = { readonly [name in FieldName]?: Value | undefined };

export function decodeRecord(text: string | null | undefined): OrderRecord {
  if (text === null || text === undefined) return NEVER_SENT;
  const fields = fieldsOf(text);
  const field = (name: FieldName) => fields[name] ?? '';
  const code = field('state');
  if (!isStateCode(code)) throw new TypeError(`order record with unknown state: ${JSON.stringify(text)}`);
  const marksText = field('marks');
  const replacedBy = /r(\d+)/.exec(marksText)?.[1] ?? null;
  const sentAt = fromBase36(field('sent'));
  const [keyNumber, keyFirstAt] = decodeKey(field('key'), sentAt);
  const arrives = /a(\d+)/.exec(marksText)?.[1];
  const base = {
    ...NEVER_SENT,
    code,
    keyNumber,
    keyFirstAt,
    attempts: Number(field('attempts')),
    tries: Number(field('tries')),
    marks: [
      ...(marksText.includes('d') ? (['discarded'] as const) : []),
      ...(replacedBy === null ? [] : (['replaced'] as const)),
    ],
    replacedBy,
    arrivesUntil: code === 'X' && arrives !== undefined ? Number(arrives) : null,
    sentAt,
    doubt: field('doubt') === '' ? null : field('doubt'),
  };
  if (code === 's') return { ...base, session: field('session'), nonce: field('nonce') };
  return {
    ...base,
    status: field('status') === '' ? null : Number(field('status')),
    balance: field('balance') === '' ? null : field('balance'),
    tookMs: fromBase36(field('took')),
    evidence: EVIDENCES.find((one) => EVIDENCE_CODE[one] === field('evidence')) ?? null,
    nonce: code === 'P' || field('nonce') === '' ? null : field('nonce'),
    paidBy: code === 'P' && field('nonce') !== '' ? field('nonce') : null,
  };
}

export function encodeRecord(
  record: Omit<
    OrderRecord,
    'marks' | 'replacedBy' | 'arrivesUntil' | 'session' | 'nonce' | 'paidBy' | 'doubt'
  >,
): string {
  return recordOf({
    state: record.code,
    key: encodeKey(record),
    attempts: record.attempts,
    tries: record.tries,
    status: record.status ?? '',
    balance: record.balance ?? '',
    sent: record.sentAt === null ? '' : toBase36(record.sentAt),
    took: record.tookMs === null ? '' : toBase36(record.tookMs),
    evidence: record.evidence === null ? '' : EVIDENCE_CODE[record.evidence],
  });
}

/** The record of an attempt that is under way. */
export function encodeSending(
  record: Pick<OrderRecord, 'keyNumber' | 'keyFirstAt' | 'attempts' | 'tries'> & {
    readonly sentAt: number;
    readonly session: string;
    readonly nonce: string;
    readonly resend: boolean;
  },
): string {
  const { attempts, tries, session, nonce, sentAt, resend } = record;
  return recordOf({
    state: 's',
    key: encodeKey(record),
    attempts,
    tries,
    session,
    nonce,
    sent: toBase36(sentAt),
    prior: resend ? 'u' : '',
  });
}

function fieldsOf(text: string): Fields<string> {
  const values = text.split('|');
  const [state = ''] = values;
  const fields: { [name in FieldName]?: string | undefined } = {};
  for (const [at, name] of namesOf(state).entries()) if (name !== null) fields[name] = values[at];
  return fields;
}

/** Only the fields that every record has: the scripts add those behind them. */
function recordOf(fields: Fields<string | number> & { readonly state: StateCode }): string {
  return namesOf(fields.state)
    .slice(0, ALWAYS_WRITTEN)
    .map((name) => (name === null ? '' : (fields[name] ?? '')))
    .join('|');
}

/** The key's number and, where it was first used at another time than `sentAt`, when. */
function encodeKey({
  keyNumber,
  keyFirstAt,
  sentAt,
}: Pick<OrderRecord, 'keyNumber' | 'keyFirstAt' | 'sentAt'>): string {
  return keyFirstAt === null || keyFirstAt === sentAt
    ? String(keyNumber)
    : `${keyNumber}@${toBase36(keyFirstAt)}`;
}

export function decodeKey(text: string, sentAt: number | null): [number: number, firstAt: number | null] {
  const [number = '', firstAt] = text.split('@');
  return [Number(number), firstAt === undefined ? sentAt : fromBase36(firstAt)];
}

function toBase36(ms: number): string {
  return Math.round(ms).toString(36);
}

export function fromBase36(text: string): number | null {
  return text === '' ? null : Number.parseInt(text, 36);
}
