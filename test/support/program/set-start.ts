import type { Redis } from 'ioredis';
import { confirmedHash } from '../../../src/ledger/read/gate.js';
import { decodeManifest } from '../../../src/ledger/views.js';

/**
 * Moves the set time of a stored batch, as if it had been prepared with that time. A test cannot step the clock or wait
 * for an hour.
 */
export async function setStart(redis: Redis, batch: string, startAt: number): Promise<void> {
  for (const key of await redis.keys('*:b:*'))
    if ((await redis.type(key)) === 'hash' && (await redis.hget(key, 'id')) === batch) {
      const movedMs = startAt - Number(await redis.hget(key, 'startAt'));
      await redis.hset(key, 'startAt', startAt);
      await confirmAnew(redis, key, movedMs);
      // Makes the feeder check the batch at that time.
      const [realm = '', no = ''] = key.split(':b:');
      return void (await redis.zadd(`${realm}:feed`, 'XX', startAt, no));
    }
  throw new Error(`no batch ${batch}`);
}

/** An approval covers the set time that was shown, so it is renewed for the moved time and moved by as much. */
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
