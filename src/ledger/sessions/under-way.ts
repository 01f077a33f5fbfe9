import { openBatches } from '../moves/feed.js';
import { batchRef } from '../read/batches.js';
import { readRecord } from '../read/rows.js';
import { attention } from '../read/unsettled.js';
import { askRealm, type BatchRef, type RealmLedger, timeOn } from '../realm-ledger.js';
import type { OrderRecord } from '../record.js';

/** What sessions have under way, and for how long it may be. */

export type Sending = {
  readonly ref: BatchRef;
  readonly index: number;
  readonly session: string;
  readonly record: OrderRecord;
};

/** The orders that these sessions are sending, in open batches: nothing is sent in others. */
export async function sendingOf(ledger: RealmLedger, sessions: ReadonlySet<string>): Promise<Sending[]> {
  const found: Sending[] = [];
  for (const { no, sending } of await openBatches(ledger)) {
    if (sending === 0) continue;
    const ref = await batchRef(ledger, no);
    for await (const index of attention(ref, 'sending')) {
      const record = await readRecord(ref, index);
      const { session } = record;
      if (session !== null && sessions.has(session)) found.push({ ref, index, session, record });
    }
  }
  return found;
}

/** What a profile says about its requests: how long one may be under way, and how long almoner waits for its answer. */
export type SendLimits = { readonly settleMs: number; readonly timeouts: { readonly totalMs: number } };

/** The longest settle time of all senders (includes/record.lua): a request of any may arrive for so long. */
export async function longestSettleMs(ledger: RealmLedger, own: number): Promise<number> {
  const [limits, nowMs] = await askRealm(ledger, 'read settle times', (redis, T) =>
    Promise.all([redis.hvals(`${T}:waits`), timeOn(redis)]),
  );
  const counting = limits
    .map((one) => one.split(' ').map(Number))
    .filter(([, , leftUntil = Number.POSITIVE_INFINITY]) => leftUntil > nowMs);
  return Math.max(own, ...counting.map(([settleMs = 0]) => settleMs));
}

/** The longest time-out of the senders. An order that is `sending` for longer is stuck. */
export async function readTimeout(ledger: RealmLedger): Promise<number | null> {
  const noted = await askRealm(ledger, 'read time-outs', (redis, T) => redis.hget(T, 'timeoutMs'));
  return noted === null ? null : Number(noted);
}
