import { encodeEvent, type OrderEvent } from '../order-event.js';
import type { RealmLedger } from '../realm-ledger.js';
import { texts } from '../script-client.js';
import { type OrderRef, utcDay } from './begin-sending.js';

/**
 * The ledger says `sending`, the session is dead, and its journal, read whole, has no such intent: nothing
 * is sent before its intent is fsynced, so this never left. It goes back to where it was, without a doubt.
 */
export async function unsend(
  ledger: RealmLedger,
  ref: OrderRef,
  session: string,
  attempt: { readonly tokens: number; readonly sentAt: number; readonly detail: OrderEvent },
  /** The store for which the journal was merged. */
  store = '',
): Promise<boolean> {
  const [status] = texts(
    await ledger.scripts.script('orphan', ledger.keyPrefix, [
      ref.no,
      ref.index,
      session,
      attempt.tokens,
      encodeEvent(attempt.detail, session),
      'w',
      utcDay(attempt.sentAt),
      store,
    ]),
  );
  return status === 'ok';
}
