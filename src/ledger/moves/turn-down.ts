import type { ErrorCode } from '../../core/errors/catalogue.js';
import type { Order } from '../../core/order.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { PlanRow } from '../plan-block.js';
import { noteSeq, type RealmLedger } from '../realm-ledger.js';
import { EVIDENCE_CODE, type Evidence, isStateCode, type StateCode } from '../record.js';
import { newNonce, texts } from '../script-client.js';
import type { Reason } from '../views.js';
import type { OrderRef } from './begin-sending.js';
import { handedOver, ownReference, refusalLimits, UNKNOWNS_IN_A_ROW } from './settle.js';

/** An order whose member could not be read: put off, or ended before anything was sent. */
export type TurnDown = {
  /** `D` is asked for and not done: the conclusion that ends an unknown has evidence of its own. */
  readonly move:
    | { readonly from: 'w'; readonly to: 'w' | 'R' | 'X'; readonly hold: string }
    | { readonly from: 'u'; readonly to: 'u' | 'D' };
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
  row: PlanRow & { readonly order: Order },
  { move, ...why }: TurnDown,
  nonce: string = newNonce(),
): Promise<{ readonly code: StateCode | null; readonly next: readonly OrderRef[] }> {
  const [answer, code = '', seq, handed = '[]'] = texts(
    await ledger.scripts.script('turn-down', ledger.keyPrefix, [
      ledger.mark.seen,
      ledger.mark.era,
      ref.no,
      ref.index,
      row.order.tokens,
      move.from,
      move.to,
      move.from === 'w' ? move.hold : '',
      why.dueInMs,
      why.detail === null ? '' : encodeEvent(why.detail, nonce),
      JSON.stringify({
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
    ]),
  );
  if (answer !== 'ok' || !isStateCode(code)) return { code: null, next: [] };
  noteSeq(ledger, seq);
  return { code, next: handedOver(handed) };
}
