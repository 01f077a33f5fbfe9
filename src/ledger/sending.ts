import type { BatchId } from '../core/ids.js';
import type { Order } from '../core/order.js';
import { type Books, noteSeq } from './books.js';
import { newNonce, texts } from './caller.js';
import { type Detail, encodeDetail } from './detail.js';
import { toBase36 } from './record.js';
import type { Reason } from './views.js';

/** An order's way from planned to being sent. Each step is one script; the script decides. */

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
  const [answer, more = '', token = ''] = await books.claims.ask([ref.no, String(ref.index), owner, ...hold]);
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

/** Why not. `earlyByMs`: it is due only then. */
export type NotBegun = { readonly no: string; readonly earlyByMs?: number };

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
): Promise<Begun | NotBegun> {
  const reply = await books.begins.ask([
    ref.no,
    String(ref.index),
    request.session,
    request.nonce,
    String(request.order.tokens),
    toBase36(request.sentAt),
    utcDay(request.sentAt),
    ...(request.dayCap === null ? ['', ''] : [String(request.dayCap), JSON.stringify(request.capReason)]),
    request.mayResend ? '1' : '',
    request.before === null ? '' : encodeDetail(request.before),
    request.hold,
    request.batch ?? '',
  ]);
  if (reply[0] !== 'go') return { no: reply[1] ?? '', ...(reply[2] && { earlyByMs: Number(reply[2]) }) };
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

let lastDay = { number: Number.NaN, text: '' };

/** Nearly always the day that was asked for last; writing a date costs more than the rest of an attempt's line. */
export function utcDay(ms: number): string {
  const number = Math.floor(ms / 86_400_000);
  if (number !== lastDay.number) lastDay = { number, text: new Date(ms).toISOString().slice(0, 10) };
  return lastDay.text;
}
