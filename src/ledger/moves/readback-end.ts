import { batchKeys } from '../keys.js';
import type { RealmLedger } from '../realm-ledger.js';

/** When read-back proves nothing: on a member let go of in doubt, for the settle time; in a batch, once it has ended. */

/** Said once, kept with the batch and in its audit. */
export async function endReadback(
  ledger: RealmLedger,
  no: string,
  message: string,
  at: number,
): Promise<boolean> {
  const { redis } = ledger.scripts;
  const keys = batchKeys(ledger.keyPrefix, no);
  return ledger.scripts.retryWhileAway('end read-back', async () => {
    if ((await redis.hsetnx(keys.meta, 'readbackEnded', message)) === 0) return false;
    await redis.rpush(
      keys.audit,
      JSON.stringify({ at, who: 'almoner', what: 'read-back ended', why: message }),
    );
    return true;
  });
}

/** The reason it ended, or null while it is sound. */
export async function readbackEnded(ledger: RealmLedger, no: string): Promise<string | null> {
  const { redis } = ledger.scripts;
  return ledger.scripts.retryWhileAway('read batch', () =>
    redis.hget(batchKeys(ledger.keyPrefix, no).meta, 'readbackEnded'),
  );
}
