import { openBatches } from '../moves/feed.js';
import { batchRef } from '../read/batches.js';
import { readRecord } from '../read/rows.js';
import { attention } from '../read/unsettled.js';
import type { BatchRef, RealmLedger } from '../realm-ledger.js';
import type { OrderRecord } from '../record.js';

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
