import type { Order } from '../../core/order.js';
import { overdueAfterMs } from '../../core/overdue.js';
import type { JournaledAttempt } from '../journal/reader.js';
import type { MergeContext } from '../moves/replay.js';
import { type Fence, readFence, storeSeen } from '../read/fence.js';
import { listSessions } from '../read/session-list.js';
import type { OrderRef } from '../realm-ledger.js';
import { noteSeq, type RealmLedger, storeNowMs } from '../realm-ledger.js';
import { adopt } from './adopt-orphans.js';
import type { Attempts } from './attempts.js';
import { isIntact } from './folder-check.js';
import { journalOf } from './local-journals.js';
import { mergeTidings, tidingsFor } from './merge.js';
import type { Session } from './session.js';
import { readTimeout, type Sending, sendingOf } from './under-way.js';

/**
 * Strays: orders that are `sending` in the name of a living session which has let them go. An error between begin and
 * settle leaves them behind. Nothing is under way for them, and no death would ever bring them to an adopter.
 *
 *   of this process    its journal tells: a RESULT settles the order, an INTENT without one makes it unknown, and
 *                      without an INTENT nothing was sent
 *   of another one     only a RESULT in a journal that lies here counts: whatever else stands there, that process may
 *                      still be sending it
 */
type Self = {
  readonly session: Session;
  readonly attempts: Pick<Attempts, 'sending' | 'has'>;
};

type Stray = Sending & { readonly record: { readonly nonce: string } };

async function straysOf(ledger: RealmLedger, { session, attempts }: Self): Promise<Stray[]> {
  const found = await sendingOf(ledger, new Set([session.id]));
  return found.filter((one): one is Stray => one.record.nonce !== null && !attempts.has(one.record.nonce));
}

type StrayDeps = {
  readonly ledger: RealmLedger;
  readonly context: MergeContext;
  readonly self: Self;
  readonly onDoubt: (ref: OrderRef, order: Order, currency: string | null) => Promise<void>;
};

/** Answers the orders that are to be worked on again. Only for a process whose ledger is armed. */
export async function settleOwnStrays(parts: StrayDeps): Promise<OrderRef[]> {
  const { ledger, context, self } = parts;
  const fence = await readFence(ledger);
  if (!fence.armed || fence.era !== ledger.mark.era) return [];
  const strays = await straysOf(ledger, self);
  if (strays.length === 0) return [];
  // After the strays: an attempt that is let go later may not stand in what was read.
  await self.session.journal.written();
  const own = await journalOf(ledger, self.session.entry);
  if (own === undefined) return [];
  const nonces = new Set(strays.map(({ record }) => record.nonce));
  const attempts = own.attempts.filter(({ intent }) => nonces.has(intent.nonce));
  await mergeTidings({ ...context, underWay: self.attempts.sending() }, await tidingsFor(ledger, attempts));
  // Those with an intent are settled by it: their request may have left.
  const intended = new Set(attempts.map(({ intent }) => intent.nonce));
  const unsent = strays.filter(({ record }) => !intended.has(record.nonce));
  const tellsAll = async () => own.whole && isIntact(ledger, self.session.entry);
  const adopted = await adopt(parts, unsent, tellsAll, storeSeen(fence));
  await noteSettled(ledger, self.session, attempts, fence);
  return adopted;
}

/** The ledger knows them by now, at a sequence that no reply has told; unless another store has taken its place. */
async function noteSettled(
  ledger: RealmLedger,
  { journal }: Session,
  attempts: readonly JournaledAttempt[],
  before: Fence,
): Promise<void> {
  const after = await readFence(ledger);
  if (after.run !== before.run || after.era !== before.era || after.seq < before.seq) return;
  noteSeq(ledger, after.seq);
  for (const { intent } of attempts) journal.settled(intent.nonce, ledger.keyPrefix, ledger.mark.seen);
}

/** Settles what other living sessions of this machine have an answer to and have not settled in time. */
export async function settleOverdue(
  { ledger, context }: Pick<StrayDeps, 'ledger' | 'context'>,
  self: string,
): Promise<number> {
  if (!(await readFence(ledger)).armed) return 0;
  const others = (await listSessions(ledger)).filter(({ id }) => id !== self);
  const found = await sendingOf(ledger, new Set(others.map(({ id }) => id)));
  if (found.length === 0) return 0;
  const [nowMs, timeoutMs] = await Promise.all([storeNowMs(ledger), readTimeout(ledger)]);
  const late = found.filter(({ record }) => nowMs - (record.sentAt ?? nowMs) > overdueAfterMs(timeoutMs));
  let moved = 0;
  for (const entry of others) {
    const nonces = new Set(
      late.flatMap(({ session, record }) => (session === entry.id ? (record.nonce ?? []) : [])),
    );
    const journal = nonces.size === 0 ? undefined : await journalOf(ledger, entry);
    const answered = journal?.attempts.filter(
      ({ intent, result }) => result !== null && nonces.has(intent.nonce),
    );
    if (answered === undefined || answered.length === 0) continue;
    const merged = await mergeTidings(
      { ...context, underWay: new Set() },
      await tidingsFor(ledger, answered),
    );
    moved += merged.moved;
  }
  return moved;
}
