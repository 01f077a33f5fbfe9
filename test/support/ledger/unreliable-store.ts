import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** Copies all keys of a realm; the returned function restores exactly that copy. */
export async function snapshot(ledger: RealmLedger): Promise<() => Promise<void>> {
  const { redis } = ledger.scripts;
  const pattern = `${ledger.keyPrefix.replaceAll(/[{}]/g, '?')}*`;
  const keys = await redis.keys(pattern);
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return async () => {
    const now = await redis.keys(pattern);
    // One transaction, because a live process would write in between.
    const restoring = redis.multi();
    if (now.length > 0) restoring.del(...now);
    for (const [i, key] of keys.entries()) {
      const dump = dumps[i];
      if (dump != null) restoring.restore(key, 0, dump, 'REPLACE');
    }
    await restoring.exec();
  };
}

/** The same; the returned function restores the copy as a failover to an older replica may. */
export async function photograph(ledger: RealmLedger): Promise<() => Promise<void>> {
  const { redis } = ledger.scripts;
  const restore = await snapshot(ledger);
  return async () => {
    await restore();
    // The copy was opened for another server, and no process has merged its journals for this one.
    if ((await redis.hexists(ledger.keyPrefix, 'armed')) === 1)
      await redis.hset(ledger.keyPrefix, 'armed', 'another-server');
    await redis.del(`${ledger.keyPrefix}:merged`);
  };
}
