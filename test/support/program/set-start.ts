import type { Redis } from 'ioredis';

/** Moves the set time of a batch in the store: the clock cannot be stepped, and no test waits for an hour to pass. */
export async function setStart(redis: Redis, batch: string, startAt: number): Promise<void> {
  for (const key of await redis.keys('*:b:*'))
    if ((await redis.type(key)) === 'hash' && (await redis.hget(key, 'id')) === batch) {
      await redis.hset(key, 'startAt', startAt);
      // The feeder looks at it then.
      const [realm = '', no = ''] = key.split(':b:');
      return void (await redis.zadd(`${realm}:feed`, 'XX', startAt, no));
    }
  throw new Error(`no batch ${batch}`);
}
