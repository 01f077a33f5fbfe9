import type { ErrorCode } from '../../core/errors/catalogue.js';
import type { BatchId } from '../../core/ids.js';
import type { OrderState } from '../../core/states.js';
import { amountText } from '../amount.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { PlannedOrder } from '../plan-block.js';
import type { OrderRef } from '../realm-ledger.js';
import { askScript, noteSeq, type RealmLedger } from '../realm-ledger.js';
import { EVIDENCE_CODE, type Evidence, MOVED_CODE, stateOfCode } from '../record.js';
import { ownReference } from '../reference.js';
import { newNonce } from '../script-client.js';
import type { Reason } from '../views.js';
import { handedOver, refusalLimits, UNKNOWNS_IN_A_ROW, undoneOrder } from './settle.js';

/** Moves of an order without an attempt: evidence that ends an unknown or a doubt, or a read that failed. */

/** The attempt or the doubt that a conclusion is about. The script refuses the conclusion once the order has another one. */
type About =
  | {
      readonly batch: BatchId;
      /** The nonce of the unknown attempt; null where the record names none, because two attempts met. */
      readonly attempt: string | null;
      /** The hold under which the members were read, and the epoch; null where nothing was read. */
      readonly read: { readonly hold: string; readonly era: string } | null;
    }
  | { readonly batch: BatchId; readonly doubt: string };

export type Conclusion = {
  readonly about: About;
  readonly to: 'paid' | 'exhausted' | 'planned' | 'doubt';
  readonly evidence: Evidence | null;
  readonly detail: OrderEvent;
  readonly dueInMs: number;
  readonly audit: string | null;
  readonly balance: string | null;
  readonly tries: number | null;
  /** How long after its last attempt a request may still arrive; asked where a person says unpaid. */
  readonly settleMs?: number;
};

/** Evidence ends an unknown or a doubt. Answers with the orders that were waiting for its members. */
export async function conclude(
  ledger: RealmLedger,
  ref: OrderRef,
  row: PlannedOrder,
  { nonce = newNonce(), ...conclusion }: Conclusion & { readonly nonce?: string },
): Promise<{ readonly concluded: boolean; readonly state: string; readonly next: readonly OrderRef[] }> {
  const [answer, state = '', handed = '[]'] = await askScript(ledger, 'conclude', [
    ref.no,
    ref.index,
    MOVED_CODE[conclusion.to],
    JSON.stringify(encodeAbout(conclusion.about)),
    amountText(row),
    conclusion.evidence === null ? '' : EVIDENCE_CODE[conclusion.evidence],
    encodeEvent(conclusion.detail, nonce),
    conclusion.dueInMs,
    conclusion.audit ?? '',
    JSON.stringify({
      ref: ownReference(row),
      undoes: undoneOrder(row),
      balance: conclusion.balance ?? '',
      tries: conclusion.tries,
      settleMs: conclusion.settleMs ?? null,
    }),
  ]);
  const concluded = answer === 'ok';
  return { concluded, state, next: concluded ? handedOver(handed) : [] };
}

function encodeAbout(about: About) {
  if ('doubt' in about) return about;
  const { batch, attempt, read } = about;
  return { batch, attempt: attempt ?? '', hold: read?.hold ?? '', era: read?.era ?? '' };
}

/** An order whose member could not be read: put off, or ended before anything was sent. */
export type TurnDown = {
  /** `doubt` is asked for and not done: the conclusion that ends an unknown has evidence of its own. */
  readonly move:
    | {
        readonly from: 'planned';
        readonly to: 'planned' | 'refused' | 'exhausted';
        readonly hold: string;
      }
    | { readonly from: 'unknown'; readonly to: 'unknown' | 'doubt'; readonly attempt: string };
  /** The batch that the order is of: since a rollback its number may stand for another one. */
  readonly batch: BatchId;
  /** Reads of this order that have failed, this one included where it counts against the order. */
  readonly tries: number;
  readonly status: number | null;
  readonly errorCode: ErrorCode;
  /** The realm gave no definite answer: the breaker counts it. */
  readonly silent: boolean;
  readonly dueInMs: number;
  readonly detail: OrderEvent | null;
  readonly evidence: Evidence | null;
  readonly refusalReason: Reason;
  readonly slice: number;
};

/** Answers with the state it has now, null where it had moved on, and with the orders that waited for its members. */
export async function turnDown(
  ledger: RealmLedger,
  ref: OrderRef,
  row: PlannedOrder,
  { move, nonce = newNonce(), ...why }: TurnDown & { readonly nonce?: string },
): Promise<{ readonly state: OrderState | null; readonly next: readonly OrderRef[] }> {
  const [answer, code = '', seq, handed = '[]'] = await askScript(ledger, 'turn-down', [
    ledger.mark.seen,
    ledger.mark.era,
    ref.no,
    ref.index,
    amountText(row),
    MOVED_CODE[move.from],
    MOVED_CODE[move.to],
    move.from === 'planned' ? move.hold : move.attempt,
    why.dueInMs,
    why.detail === null ? '' : encodeEvent(why.detail, nonce),
    JSON.stringify({
      batch: why.batch,
      tries: why.tries,
      status: why.status === null ? '' : String(why.status),
      evidence: why.evidence === null ? '' : EVIDENCE_CODE[why.evidence],
      slice: why.slice,
      ref: ownReference(row),
      class: why.errorCode,
      silent: why.silent,
      unknowns: UNKNOWNS_IN_A_ROW,
      refusals: refusalLimits(why.refusalReason),
    }),
  ]);
  const state = stateOfCode(code);
  if (answer !== 'ok' || state === null) return { state: null, next: [] };
  noteSeq(ledger, seq);
  return { state, next: handedOver(handed) };
}
