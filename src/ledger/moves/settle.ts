import { z } from 'zod';
import type { ErrorCode } from '../../core/errors/catalogue.js';
import type { Order } from '../../core/order.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { PlanRow } from '../plan-block.js';
import { noteSeq, type RealmLedger } from '../realm-ledger.js';
import { EVIDENCE_CODE, type Evidence, encodeRecord, isStateCode, type StateCode } from '../record.js';
import { referenceKey } from '../reference.js';
import { listFromLua, newNonce, texts } from '../script-client.js';
import type { Reason } from '../views.js';
import { type OrderRef, utcDay } from './begin-sending.js';
import { latencyBucket } from './latency-buckets.js';

/** What became of an attempt: by its answer, or later by evidence. */

export type Settlement = {
  readonly code: Extract<StateCode, 'P' | 'R' | 'X' | 'w' | 'u' | 'D'>;
  readonly keyNumber: number;
  readonly keyFirstAt: number | null;
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
  readonly detail: OrderEvent | null;
  readonly requests: number;
  readonly limited: boolean;
  readonly errorCode: ErrorCode | null;
  readonly sliceMs: number;
  readonly batchCreatedAt: number;
  readonly haltRealm: Reason | null;
  /** For the batch, should this be one refusal too many; null unless refused. */
  readonly refusalReason: Reason | null;
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
const REFUSALS = { inARow: 20, beforePaid: 5 };
/** Unknowns and connections that do not come about, with no definite answer between them: the breaker opens. */
export const UNKNOWNS_IN_A_ROW = 20;

export async function settle(
  ledger: RealmLedger,
  ref: OrderRef,
  nonce: string,
  row: PlanRow & { readonly order: Order },
  result: Settlement,
): Promise<Settled> {
  const settledAt = result.sentAt + result.tookMs;
  const reply = await ledger.settles.ask([
    ref.no,
    String(ref.index),
    nonce,
    String(row.order.tokens),
    encodeRecord(result),
    result.dueInMs,
    utcDay(result.sentAt),
    result.detail === null ? '' : encodeEvent(result.detail),
    String(latencyBucket(result.latencyMs)),
    String(Math.max(0, Math.floor((settledAt - result.batchCreatedAt) / result.sliceMs))),
    result.requests,
    result.attempts > 1 ? 1 : 0,
    result.limited ? 1 : 0,
    result.code === 'P' ? { undoes: undoneOrder(row) } : troubleFacts(row, result),
  ]);
  const code = (text: string | undefined) => (text !== undefined && isStateCode(text) ? text : null);
  if (reply[0] !== 'ok') return { settled: false, code: code(reply[1]?.slice(0, 1)) };
  noteSeq(ledger, reply[3]);
  return {
    settled: true,
    code: code(reply[1]) ?? result.code,
    batchState: reply[2] ?? '',
    next: handedOver(reply[4] ?? '[]'),
    breakerOpened: reply[5] === '1',
  };
}

/** What the script needs of an order that was not simply paid. */
function troubleFacts(row: PlanRow, result: Settlement) {
  return {
    ref: ownReference(row),
    class: result.errorCode ?? '',
    unreached: result.errorCode === 'ALM_SEND_NOT_SENT' && result.status === null,
    haltRealm: result.haltRealm === null ? null : JSON.stringify(result.haltRealm),
    refusals: refusalLimits(result.refusalReason),
    unknowns: UNKNOWNS_IN_A_ROW,
  };
}

export function refusalLimits(reason: Reason | null) {
  return { ...REFUSALS, reason: JSON.stringify(reason) };
}

export type Conclusion = {
  readonly from: 'u' | 'D';
  readonly to: 'P' | 'X' | 'w' | 'D';
  readonly evidence: Evidence | null;
  readonly detail: OrderEvent;
  readonly sentAt: number;
  readonly dueInMs: number;
  readonly audit: string | null;
  readonly balance: string | null;
  readonly tries: number | null;
  /** In which the evidence was read; what a person decides has none. */
  readonly era?: string;
  /** For how long after its last attempt a request may still arrive: asked where a person says unpaid. */
  readonly settleMs?: number;
};

/** Evidence ends an unknown or a doubt. Answers with the orders that were waiting for its members. */
export async function conclude(
  ledger: RealmLedger,
  ref: OrderRef,
  row: PlanRow & { readonly order: Order },
  conclusion: Conclusion,
  nonce: string = newNonce(),
): Promise<{ readonly concluded: boolean; readonly state: string; readonly next: readonly OrderRef[] }> {
  const reply = texts(
    await ledger.scripts.script('conclude', ledger.keyPrefix, [
      ref.no,
      ref.index,
      conclusion.from,
      conclusion.to,
      row.order.tokens,
      conclusion.evidence === null ? '' : EVIDENCE_CODE[conclusion.evidence],
      encodeEvent(conclusion.detail, nonce),
      utcDay(conclusion.sentAt),
      conclusion.dueInMs,
      conclusion.audit ?? '',
      JSON.stringify({
        ref: ownReference(row),
        undoes: undoneOrder(row),
        balance: conclusion.balance ?? '',
        tries: conclusion.tries,
        settleMs: conclusion.settleMs ?? null,
      }),
      conclusion.era ?? '',
    ]),
  );
  const concluded = reply[0] === 'ok';
  return { concluded, state: reply[1] ?? '', next: concluded ? handedOver(reply[2] ?? '[]') : [] };
}

export function ownReference({ reference }: PlanRow) {
  if (reference === null) return null;
  const { shard, field } = referenceKey(reference);
  return [shard, field.toString('hex')];
}

/** What a paid undo gives back: see includes/reference.lua. */
export function undoneOrder({ undoes }: PlanRow) {
  if (undoes === null) return null;
  const { shard, fieldHex, no, index, account = '' } = undoes;
  return [shard, fieldHex, no, index, account];
}

export function handedOver(json: string): OrderRef[] {
  if (json === '[]') return [];
  return z
    .array(z.string())
    .parse(listFromLua(json))
    .map((text) => {
      const [no = '', index = ''] = text.split(':');
      return { no, index: Number(index) };
    });
}
