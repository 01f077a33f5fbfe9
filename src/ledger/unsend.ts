import type { Books } from './books.js';
import { texts } from './caller.js';
import { type Detail, encodeDetail } from './detail.js';
import { type OrderRef, utcDay } from './sending.js';

/**
 * The ledger says `sending`, the session is dead, and its journal, read whole, has no such intent: nothing
 * is sent before its intent is fsynced, so this never left. It goes back to where it was, without a doubt.
 */
export async function unsend(
  books: Books,
  ref: OrderRef,
  session: string,
  attempt: { readonly tokens: number; readonly sentAt: number; readonly detail: Detail },
  /** The store for which the journal was merged. */
  store = '',
): Promise<boolean> {
  const [status] = texts(
    await books.caller.script('orphan', books.realm, [
      ref.no,
      ref.index,
      session,
      attempt.tokens,
      encodeDetail(attempt.detail, session),
      'w',
      utcDay(attempt.sentAt),
      store,
    ]),
  );
  return status === 'ok';
}
