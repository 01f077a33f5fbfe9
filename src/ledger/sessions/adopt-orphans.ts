import { orderId } from '../../core/ids.js';
import type { Order } from '../../core/order.js';
import { orphan } from '../moves/orphan.js';
import type { MergeContext } from '../moves/replay.js';
import { freeSlots } from '../pace/pace.js';
import type { SessionEntry } from '../read/session-list.js';
import type { OrderRef } from '../realm-ledger.js';
import { forgetSession } from './session.js';
import { type Sending, sendingOf } from './under-way.js';

/**
 * What dead sessions leave behind. An order that one of them was sending becomes unknown, or a doubt where nothing
 * can be asked. Where its journal was merged and tells all that it sent, what is still in its name was never sent and
 * goes back. A session is dead only when that is proven (see liveness.ts); one that is late, frozen or elsewhere is
 * left alone.
 */
type Adopting = {
  readonly context: MergeContext;
  readonly onDoubt: (ref: OrderRef, order: Order, currency: string | null) => Promise<void>;
};

/** Whether a session's journal was merged and holds all that the session sent: what it does not hold was never sent. */
type TellsAll = (session: string) => Promise<boolean>;

/** Answers the orders that are to be worked on again. */
export async function adoptDead(
  adopting: Adopting,
  dead: readonly SessionEntry[],
  tellsAll: TellsAll,
  /** The store for which it was: one that took its place since may remember less. */
  store: string,
): Promise<OrderRef[]> {
  if (dead.length === 0) return [];
  const { ledger } = adopting.context;
  // First of all: what follows reads at the pace, which would wait for them.
  for (const { id } of dead) await freeSlots(ledger, id);
  const found = await sendingOf(ledger, new Set(dead.map(({ id }) => id)));
  const adopted = await adopt(adopting, found, tellsAll, store);
  for (const { id } of dead) await forgetSession(ledger, id, store);
  return adopted;
}

/** Takes these orders from the sessions that stopped sending them; `tellsAll` and `store` as for `adoptDead`. */
export async function adopt(
  adopting: Adopting,
  found: readonly Sending[],
  tellsAll: TellsAll,
  store: string,
): Promise<OrderRef[]> {
  const adopted: OrderRef[] = [];
  for (const one of found) {
    const open = await adoptOne(adopting, one, await tellsAll(one.session), store);
    if (open) adopted.push({ no: one.ref.no, index: one.index });
  }
  return adopted;
}

async function adoptOne(
  { context: { ledger, plans, termsOf }, onDoubt }: Adopting,
  { ref: batch, index, session, record }: Sending,
  neverSent: boolean,
  store: string,
): Promise<boolean> {
  const row = await plans.row(batch.no, index);
  if (row.order === null || record.nonce === null) return false;
  const ref = { no: batch.no, index };
  const of = { session, row: { ...row, order: row.order }, attempt: record.nonce };
  const about = {
    event: 'orphaned',
    at: Date.now(),
    sentAt: record.sentAt,
    key: `${orderId(batch.id, index)}.${record.keyNumber}`,
    session,
  } as const;
  if (neverSent) {
    const detail = { ...about, code: 'ALM_SEND_NOT_SENT', message: NEVER_SENT };
    return orphan(ledger, ref, of, { detail, to: 'w', store });
  }
  const { certainty, currency } = await termsOf(batch.no);
  const to = certainty === 'manual' ? 'D' : 'u';
  const detail = { ...about, attempt: record.nonce, code: 'ALM_SEND_OWNER_DIED', message: OWNER_DIED };
  const done = await orphan(ledger, ref, of, { detail, to, store });
  if (done && to === 'D') await onDoubt(ref, row.order, currency);
  return done && to === 'u';
}

const NEVER_SENT =
  'the process that was about to send it took it back, or died before; its journal proves that nothing was sent';
const OWNER_DIED = 'the process that was sending it died; whether the request arrived is not known';
