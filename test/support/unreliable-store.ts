import type { Redis } from 'ioredis';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';

/** A store that forgets, and one whose replies get lost. */

/** All keys of a realm as they stand; `restore` puts the store back to that moment, as a failover may. */
export async function photograph(ledger: RealmLedger): Promise<() => Promise<void>> {
  const { redis } = ledger.scripts;
  const pattern = `${ledger.keyPrefix.replaceAll(/[{}]/g, '?')}*`;
  const keys = await redis.keys(pattern);
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return async () => {
    const now = await redis.keys(pattern);
    if (now.length > 0) await redis.del(...now);
    for (const [i, key] of keys.entries()) {
      const dump = dumps[i];
      if (dump != null) await redis.restore(key, 0, dump);
    }
    // The copy was armed for the server it was taken from, and nobody has merged for this one.
    if ((await redis.hexists(ledger.keyPrefix, 'armed')) === 1)
      await redis.hset(ledger.keyPrefix, 'armed', 'another-server');
    await redis.del(`${ledger.keyPrefix}:merged`);
  };
}

/** A connection that loses replies when told to: the script has run, and the caller asks again. */
export class Lossy {
  /** Replies still to lose. */
  losing = 0;
  readonly redis: Redis;

  constructor(redis: Redis) {
    this.redis = new Proxy(redis, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'evalsha') return value.bind(target);
        return async (...args: unknown[]) => {
          const reply: unknown = await value.apply(target, args);
          if (this.losing <= 0) return reply;
          this.losing -= 1;
          throw Object.assign(new Error('the reply was lost'), { code: 'ECONNRESET' });
        };
      },
    });
  }
}
