import type { Redis } from 'ioredis';
import { confirmedHash } from '../../../src/ledger/read/gate.js';
import { decodeManifest } from '../../../src/ledger/views.js';

/**
 * Moves the set time of a batch in the store, as if it had been prepared with it: the clock cannot be stepped, and no test
 * waits for an hour to pass.
 */
export async function setStart(redis: Redis, batch: string, startAt: number): Promise<void> {
  for (const key of await redis.keys('*:b:*'))
    if ((await redis.type(key)) === 'hash' && (await redis.hget(key, 'id')) === batch) {
      const movedMs = startAt - Number(await redis.hget(key, 'startAt'));
      await redis.hset(key, 'startAt', startAt);
      await confirmAnew(redis, key, movedMs);
      // The feeder looks at it then.
      const [realm = '', no = ''] = key.split(':b:');
      return void (await redis.zadd(`${realm}:feed`, 'XX', startAt, no));
    }
  throw new Error(`no batch ${batch}`);
}

/** An approval is for the time that it was shown with, and was given as long before it. */
export async function confirmAnew(redis: Redis, key: string, movedMs = 0): Promise<void> {
  const { manifest = '', preparer = null, startAt, startZone = '', approval } = await redis.hgetall(key);
  const id = /\{(.+)\}/.exec(key)?.[1] ?? '';
  const start = startAt === undefined ? null : { at: Number(startAt), zone: startZone };
  const hash = confirmedHash({ id }, decodeManifest(manifest), { who: preparer, start });
  await redis.hset(key, 'confirmed', hash);
  if (approval === undefined) return;
  const request = { ...JSON.parse(approval), hash };
  if (request.approved) request.approved.at += Math.min(0, movedMs);
  await redis.hset(key, 'approval', JSON.stringify(request));
}
