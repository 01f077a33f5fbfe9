import { amountText } from '../amount.js';
import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { PlannedOrder } from '../plan-block.js';
import type { OrderRef } from '../realm-ledger.js';
import { askScript, type RealmLedger } from '../realm-ledger.js';
import { newNonce } from '../script-client.js';

/** What becomes of an order whose sender will not settle it. */
type Orphaned =
  /** Nobody can say whether it was applied. */
  | 'u'
  /** Nobody can say, and nothing can be asked. */
  | 'D'
  /**
   * Its session is dead, and the session's journal, read whole, has no such intent: nothing is sent before its intent
   * is fsynced, so this never left. It goes back to where it was, without a doubt.
   */
  | 'w';

type Orphaning = {
  readonly detail: OrderEvent;
  readonly to: Orphaned;
  /** The store for which the session's journal was merged; empty where any will do. */
  readonly store?: string;
  readonly nonce?: string;
};

/** An order of a session that is proven dead. False where it is not that session's any more. */
export async function orphan(
  ledger: RealmLedger,
  ref: OrderRef,
  /** `attempt`: the nonce of the attempt that was found. */
  of: { readonly session: string; readonly row: PlannedOrder; readonly attempt: string },
  { detail, to, store = '', nonce = newNonce() }: Orphaning,
): Promise<boolean> {
  const [status] = await askScript(ledger, 'orphan', [
    ref.no,
    ref.index,
    of.session,
    amountText(of.row),
    encodeEvent(detail, nonce),
    to,
    store,
    of.attempt,
  ]);
  return status === 'ok';
}

export type LostOrder = OrderRef & {
  readonly row: PlannedOrder;
  readonly attempt: string;
  readonly detail: OrderEvent;
  readonly to: Extract<Orphaned, 'u' | 'D'>;
};

/** Gives a session up for good, with what it was sending. `wide`: the store may have forgotten what else it sent. */
export async function acceptLost<Lost extends LostOrder>(
  ledger: RealmLedger,
  session: string,
  by: { readonly who: string; readonly at: number },
  orders: readonly Lost[],
): Promise<'wide' | 'gone' | { readonly moved: readonly Lost[] }> {
  const [answer, ...places] = await askScript(ledger, 'accept-lost', [
    session,
    JSON.stringify(by),
    JSON.stringify(
      orders.map(({ no, index, row, attempt, detail, to }) => [
        no,
        String(index),
        amountText(row),
        encodeEvent(detail),
        to,
        attempt,
      ]),
    ),
  ]);
  return answer === 'wide' || answer === 'gone'
    ? answer
    : { moved: places.flatMap((place) => orders[Number(place) - 1] ?? []) };
}
