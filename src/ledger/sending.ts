import { z } from 'zod';
import type { ErrorCode } from '../core/errors/catalogue.js';
import type { BatchId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import { type Books, noteSeq } from './books.js';
import { listFromLua, newNonce, texts } from './caller.js';
import { type Detail, encodeDetail } from './detail.js';
import { latencyBucket } from './latency-buckets.js';
import type { PlanRow } from './plan-block.js';
import {
  EVIDENCE_CODE,
  type Evidence,
  encodeRecord,
  isStateCode,
  type StateCode,
  toBase36,
} from './record.js';
import { referenceKey } from './reference.js';
import type { Reason } from './views.js';

/** The moves of one order between planned and settled. Each is one script; the script decides. */

export type OrderRef = { readonly no: string; readonly index: number };

export type Claim =
  /** `hold` names the hold under which balances may be read now; empty where nothing is held. */
  | { readonly answer: 'go'; readonly unknown: boolean; readonly hold: string }
  | { readonly answer: 'wait'; readonly ms: number }
  | { readonly answer: 'held' }
  | { readonly answer: 'stop'; readonly why: string };

export async function claim(
  books: Books,
  ref: OrderRef,
  owner: string,
  hold: readonly string[],
): Promise<Claim> {
  const [answer, more = '', token = ''] = texts(
    await books.caller.script('claim', books.realm, [
      ref.no,
      ref.index,
      owner,
      books.mark.seen,
      books.mark.era,
      ...hold,
    ]),
  );
  switch (answer) {
    case 'go':
      return { answer, unknown: more === 'u', hold: token };
    case 'held':
      return { answer };
    case 'wait':
      return { answer, ms: Number(more) };
    default:
      return { answer: 'stop', why: more };
  }
}

/** What an attempt knows of its order once it may send. */
export type Begun = {
  readonly keyNumber: number;
  readonly attempts: number;
  readonly tries: number;
  /** The attempt resends, with the same key, one whose outcome is unknown. */
  readonly resend: boolean;
  readonly seq: number;
  /** Of this attempt, or of the first one whose outcome is unknown. */
  readonly firstSentAt: number;
};

export type BeginRequest = {
  readonly session: string;
  readonly nonce: string;
  readonly order: Order;
  readonly sentAt: number;
  readonly dayCap: number | null;
  readonly mayResend: boolean;
  readonly before: Detail | null;
  readonly capReason: Reason;
  /** Of the row at hand: after a rollback of the store, the number may belong to another batch. */
  readonly batch?: BatchId;
  /** The hold that the claim gave and under which `before` was read; empty where nothing is held. */
  readonly hold: string;
};

export async function beginSending(
  books: Books,
  ref: OrderRef,
  request: BeginRequest,
): Promise<Begun | { readonly no: string }> {
  const reply = texts(
    await books.caller.script('begin-sending', books.realm, [
      ref.no,
      ref.index,
      request.session,
      request.nonce,
      request.order.tokens,
      toBase36(request.sentAt),
      utcDay(request.sentAt),
      request.dayCap ?? '',
      request.mayResend ? '1' : '',
      request.before === null ? '' : encodeDetail(request.before),
      JSON.stringify(request.capReason),
      request.hold,
      books.mark.seen,
      books.mark.era,
      request.batch ?? '',
    ]),
  );
  if (reply[0] !== 'go') return { no: reply[1] ?? '' };
  noteSeq(books, reply[5]);
  return {
    keyNumber: Number(reply[1]),
    attempts: Number(reply[2]),
    tries: Number(reply[3]),
    resend: reply[4] === 'u',
    seq: Number(reply[5]),
    firstSentAt: Number.parseInt(reply[6] ?? '', 36),
  };
}

export type Settlement = {
  readonly code: Extract<StateCode, 'P' | 'R' | 'X' | 'w' | 'u' | 'D'>;
  readonly keyNumber: number;
  readonly attempts: number;
  readonly tries: number;
  readonly status: number | null;
  readonly balance: string | null;
  readonly sentAt: number;
  readonly tookMs: number;
  /** Of this attempt alone, for the histogram. */
  readonly latencyMs: number;
  readonly evidence: Evidence | null;
  readonly dueInMs: number;
  readonly detail: Detail | null;
  readonly requests: number;
  readonly limited: boolean;
  readonly errorCode: ErrorCode | null;
  readonly sliceMs: number;
  readonly batchCreatedAt: number;
  readonly haltRealm: Reason | null;
  readonly refusalReason: Reason;
};

export type Settled =
  | {
      readonly settled: true;
      readonly code: StateCode;
      readonly batchState: string;
      readonly next: readonly OrderRef[];
      readonly breakerOpened: boolean;
    }
  | { readonly settled: false; readonly code: StateCode | null };

/** Twenty refusals of one class in a row, or five before anything was paid, halt the batch. */
const REFUSALS_IN_A_ROW = 20;
const REFUSALS_BEFORE_PAID = 5;
/** Unknowns with no definite answer between them that open the breaker. */
const UNKNOWNS_IN_A_ROW = 20;

export async function settle(
  books: Books,
  ref: OrderRef,
  nonce: string,
  row: PlanRow & { readonly order: Order },
  result: Settlement,
): Promise<Settled> {
  const facts = {
    requests: result.requests,
    retries: result.attempts > 1 ? 1 : 0,
    limited: result.limited ? 1 : 0,
    latency: latencyBucket(result.latencyMs),
    slice: Math.max(0, Math.floor((result.sentAt + result.tookMs - result.batchCreatedAt) / result.sliceMs)),
    ...ownReferences(row),
    class: result.errorCode ?? '',
    haltRealm: result.haltRealm === null ? null : JSON.stringify(result.haltRealm),
    refusals: {
      reason: JSON.stringify(result.refusalReason),
      inARow: REFUSALS_IN_A_ROW,
      beforePaid: REFUSALS_BEFORE_PAID,
    },
    unknowns: UNKNOWNS_IN_A_ROW,
  };
  const reply = texts(
    await books.caller.script('settle', books.realm, [
      ref.no,
      ref.index,
      nonce,
      row.order.tokens,
      encodeRecord(result),
      result.dueInMs,
      utcDay(result.sentAt),
      result.detail === null ? '' : encodeDetail(result.detail),
      JSON.stringify(facts),
    ]),
  );
  const code = (text: string | undefined) => (text !== undefined && isStateCode(text) ? text : null);
  if (reply[0] !== 'ok') return { settled: false, code: code(reply[1]?.slice(0, 1)) };
  noteSeq(books, reply[3]);
  return {
    settled: true,
    code: code(reply[1]) ?? result.code,
    batchState: reply[2] ?? '',
    next: handedOver(reply[4] ?? '[]'),
    breakerOpened: reply[5] === '1',
  };
}

/** An order of a session that is proven dead becomes unknown, or a doubt where nothing can be asked. */
export async function orphan(
  books: Books,
  ref: OrderRef,
  session: string,
  tokens: number,
  detail: Detail,
  toDoubt: boolean,
  nonce: string = newNonce(),
): Promise<boolean> {
  const [status] = texts(
    await books.caller.script('orphan', books.realm, [
      ref.no,
      ref.index,
      session,
      tokens,
      encodeDetail(detail, nonce),
      toDoubt ? 'D' : 'u',
      '',
    ]),
  );
  return status === 'ok';
}

export type Conclusion = {
  readonly from: 'u' | 'D';
  readonly to: 'P' | 'X' | 'w' | 'D';
  readonly evidence: Evidence | null;
  readonly detail: Detail;
  readonly sentAt: number;
  readonly dueInMs: number;
  readonly audit: string | null;
  readonly balance: string | null;
  readonly tries: number | null;
};

/** Evidence ends an unknown or a doubt. Answers with the orders that were waiting for its members. */
export async function conclude(
  books: Books,
  ref: OrderRef,
  row: PlanRow & { readonly order: Order },
  conclusion: Conclusion,
  nonce: string = newNonce(),
): Promise<{ readonly concluded: boolean; readonly state: string; readonly next: readonly OrderRef[] }> {
  const reply = texts(
    await books.caller.script('conclude', books.realm, [
      ref.no,
      ref.index,
      conclusion.from,
      conclusion.to,
      row.order.tokens,
      conclusion.evidence === null ? '' : EVIDENCE_CODE[conclusion.evidence],
      encodeDetail(conclusion.detail, nonce),
      utcDay(conclusion.sentAt),
      conclusion.dueInMs,
      conclusion.audit ?? '',
      JSON.stringify({
        ...ownReferences(row),
        balance: conclusion.balance ?? '',
        tries: conclusion.tries,
      }),
    ]),
  );
  const concluded = reply[0] === 'ok';
  return { concluded, state: reply[1] ?? '', next: concluded ? handedOver(reply[2] ?? '[]') : [] };
}

function ownReferences(row: PlanRow) {
  const key = row.reference === null ? null : referenceKey(row.reference);
  const { undoes } = row;
  return {
    ref: key === null ? null : [key.shard, key.field.toString('hex')],
    undoes: undoes === null ? null : [undoes.shard, undoes.fieldHex, undoes.no, undoes.index],
  };
}

function handedOver(json: string): OrderRef[] {
  return z
    .array(z.string())
    .parse(listFromLua(json))
    .map((text) => {
      const [no = '', index = ''] = text.split(':');
      return { no, index: Number(index) };
    });
}

export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
