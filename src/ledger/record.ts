import type { OrderMark, OrderState } from '../core/states.js';

/** Reads and writes the packed order record whose layout stands in lua/includes/record.lua. */

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

const EVIDENCES = { a: 'answer', k: 'key', r: 'readback', o: 'operator' } as const;
export type Evidence = (typeof EVIDENCES)[keyof typeof EVIDENCES];
export const EVIDENCE_CODE: Readonly<Record<Evidence, string>> = {
  answer: 'a',
  key: 'k',
  readback: 'r',
  operator: 'o',
};

export type OrderRecord = {
  readonly code: StateCode;
  /** The number in the order's key. */
  readonly keyNumber: number;
  readonly attempts: number;
  /** Attempts used up since the order was planned or last retried by a person. */
  readonly tries: number;
  readonly status: number | null;
  readonly balance: string | null;
  readonly sentAt: number | null;
  readonly tookMs: number | null;
  readonly evidence: Evidence | null;
  readonly marks: readonly OrderMark[];
  /** Of the batch that replaced it. */
  readonly replacedBy: string | null;
  /** Only while sending. */
  readonly session: string | null;
  readonly nonce: string | null;
};

export const NEVER_SENT: OrderRecord = {
  code: 'p',
  keyNumber: 1,
  attempts: 0,
  tries: 0,
  status: null,
  balance: null,
  sentAt: null,
  tookMs: null,
  evidence: null,
  marks: [],
  replacedBy: null,
  session: null,
  nonce: null,
};

export function isStateCode(text: string): text is StateCode {
  return Object.hasOwn(STATE_CODES, text);
}

export function decodeRecord(text: string | null | undefined): OrderRecord {
  if (text === null || text === undefined) return NEVER_SENT;
  const fields = text.split('|');
  const field = (position: number) => fields[position] ?? '';
  const code = field(0);
  if (!isStateCode(code)) throw new Error(`order record with unknown state: ${JSON.stringify(text)}`);
  const marksText = field(9);
  const replacedBy = /r(\d+)/.exec(marksText)?.[1] ?? null;
  const base = {
    code,
    keyNumber: Number(field(1)),
    attempts: Number(field(2)),
    tries: Number(field(3)),
    marks: [
      ...(marksText.includes('d') ? (['discarded'] as const) : []),
      ...(replacedBy === null ? [] : (['replaced'] as const)),
    ],
    replacedBy,
    sentAt: fromBase36(field(6)),
  };
  if (code === 's')
    return {
      ...base,
      session: field(4),
      nonce: field(5),
      status: null,
      balance: null,
      tookMs: null,
      evidence: null,
    };
  return {
    ...base,
    status: field(4) === '' ? null : Number(field(4)),
    balance: field(5) === '' ? null : field(5),
    tookMs: fromBase36(field(7)),
    evidence: evidenceOf(field(8)),
    session: null,
    nonce: null,
  };
}

export function encodeRecord(
  record: Omit<OrderRecord, 'marks' | 'replacedBy' | 'session' | 'nonce'>,
): string {
  return [
    record.code,
    record.keyNumber,
    record.attempts,
    record.tries,
    record.status ?? '',
    record.balance ?? '',
    record.sentAt === null ? '' : toBase36(record.sentAt),
    record.tookMs === null ? '' : toBase36(record.tookMs),
    record.evidence === null ? '' : EVIDENCE_CODE[record.evidence],
    '',
  ].join('|');
}

export function toBase36(ms: number): string {
  return Math.round(ms).toString(36);
}

function fromBase36(text: string): number | null {
  return text === '' ? null : Number.parseInt(text, 36);
}

function evidenceOf(code: string): Evidence | null {
  return Object.entries(EVIDENCES).find(([key]) => key === code)?.[1] ?? null;
}
