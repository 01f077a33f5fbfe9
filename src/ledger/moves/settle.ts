import { z } from 'zod';
import type { ErrorCode } from '../../core/errors/catalogue.js';
import type { OrderState } from '../../core/states.js';
import { amountText } from '../amount.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { PlannedOrder, PlanRow } from '../plan-block.js';
import type { OrderRef } from '../realm-ledger.js';
import { askSingly, askTogetherOnce, noteSeq, type RealmLedger } from '../realm-ledger.js';
import { encodeRecord, MOVED_CODE, type MovedTo, type OrderRecord, stateOfCode } from '../record.js';
import { ownReference } from '../reference.js';
import { listFromLua } from '../script-client.js';
import type { Reason } from '../views.js';
import type { Begun } from './begin-sending.js';

/** What became of an attempt: by its answer, or later by evidence. */
export type Settlement = Pick<
  OrderRecord,
  'keyNumber' | 'keyFirstAt' | 'attempts' | 'tries' | 'status' | 'balance' | 'evidence'
> & {
  readonly to: MovedTo;
  readonly sentAt: number;
  readonly tookMs: number;
  /** The time of this attempt alone, for the histogram. */
  readonly latencyMs: number;
  readonly dueInMs: number;
  readonly detail: OrderEvent | null;
  readonly requests: number;
  readonly limited: boolean;
  readonly errorCode: ErrorCode | null;
  readonly sliceMs: number;
  readonly batchCreatedAt: number;
  readonly haltRealm: Reason | null;
  /** The reason that halts the batch, should this be one refusal too many; null unless refused. */
  readonly refusalReason: Reason | null;
};

export type Settled =
  | { readonly settled: true; readonly state: OrderState; readonly next: readonly OrderRef[] }
  | { readonly settled: false; readonly state: OrderState | null };

/** Twenty refusals of one class in a row, or five before anything was paid, halt the batch. */
const REFUSALS = { inARow: 20, beforePaid: 5 };
/** Unknowns and connections that do not come about, with no definite answer between them: the breaker opens. */
export const UNKNOWNS_IN_A_ROW = 20;

/** An order whose attempt ends. */
export type SentOrder = { readonly ref: OrderRef; readonly nonce: string; readonly row: PlannedOrder };

export async function settle(
  ledger: RealmLedger,
  { ref, nonce, row }: SentOrder,
  result: Settlement,
  /** In a call of its own, and not together with the results of the same moment. */
  singly = false,
): Promise<Settled> {
  const settledAt = result.sentAt + result.tookMs;
  const asked = [
    ref.no,
    String(ref.index),
    nonce,
    amountText(row),
    encodeRecord({ ...result, code: MOVED_CODE[result.to] }),
    result.dueInMs,
    result.detail === null ? '' : encodeEvent(result.detail),
    String(latencyBucket(result.latencyMs)),
    String(Math.max(0, Math.floor((settledAt - result.batchCreatedAt) / result.sliceMs))),
    result.requests,
    result.attempts > 1 ? 1 : 0,
    result.limited ? 1 : 0,
    result.to === 'paid' ? { undoes: undoneOrder(row) } : troubleFacts(row, result),
  ];
  const [status, state, seq, next = '[]'] = await (singly
    ? askSingly(ledger, 'settle', asked)
    : askTogetherOnce(ledger, 'settle', asked));
  // A stale attempt is told the record as it stands, which begins with its state.
  if (status !== 'ok') return { settled: false, state: stateOfCode(state?.slice(0, 1)) };
  noteSeq(ledger, seq);
  return { settled: true, state: stateOfCode(state) ?? result.to, next: handedOver(next) };
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

/** Quarter powers of two from 1 ms: 12 % wide at most, some sixty buckets for any latency. */
function latencyBucket(ms: number): number {
  return Math.max(0, Math.ceil(4 * Math.log2(Math.max(1, ms))));
}

/** Begun, and taken back before anything of it left. */
export function neverSent(key: string, nonce: string, begun: Begun, errorCode: ErrorCode | null): Settlement {
  const { keyNumber, keyFirstAt, attempts, tries, firstSentAt, unansweredUntil } = begun;
  return {
    ...NOT_SENT,
    errorCode,
    detail: {
      event: 'attempt',
      at: Date.now(),
      key,
      attempt: nonce,
      kind: 'not-sent',
      code: errorCode,
      message: 'taken back before anything of it left',
      status: null,
      phase: 'none',
      requestId: null,
      latencyMs: 0,
      body: '',
    },
    to: begun.resend ? 'unknown' : 'planned',
    keyNumber,
    keyFirstAt,
    attempts,
    tries,
    sentAt: firstSentAt,
    tookMs: (unansweredUntil ?? firstSentAt) - firstSentAt,
    batchCreatedAt: begun.sentAt,
  };
}

const NOT_SENT = {
  status: null,
  balance: null,
  latencyMs: 0,
  evidence: null,
  dueInMs: 0,
  requests: 0,
  limited: false,
  sliceMs: 1000,
  haltRealm: null,
  refusalReason: null,
} as const;
