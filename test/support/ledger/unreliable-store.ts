import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** All keys of a realm as they stand; the function puts the very same ones back. */
export async function snapshot(ledger: RealmLedger): Promise<() => Promise<void>> {
  const { redis } = ledger.scripts;
  const pattern = `${ledger.keyPrefix.replaceAll(/[{}]/g, '?')}*`;
  const keys = await redis.keys(pattern);
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return async () => {
    const now = await redis.keys(pattern);
    // At once: whoever lives would write in between.
    const restoring = redis.multi();
    if (now.length > 0) restoring.del(...now);
    for (const [i, key] of keys.entries()) {
      const dump = dumps[i];
      if (dump != null) restoring.restore(key, 0, dump, 'REPLACE');
    }
    await restoring.exec();
  };
}

/** The same; `restore` puts the store back to that moment as a failover may. */
export async function photograph(ledger: RealmLedger): Promise<() => Promise<void>> {
  const { redis } = ledger.scripts;
  const restore = await snapshot(ledger);
  return async () => {
    await restore();
    // The copy was armed for the server it was taken from, and nobody has merged for this one.
    if ((await redis.hexists(ledger.keyPrefix, 'armed')) === 1)
      await redis.hset(ledger.keyPrefix, 'armed', 'another-server');
    await redis.del(`${ledger.keyPrefix}:merged`);
  };
}
