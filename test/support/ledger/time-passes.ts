import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

const SLICE = 600_000;

/**
 * Ages everything that a person paid or prepared alone by `ms`, rounded up, plus ten minutes: that is the length of a
 * slice.
 */
export async function timePasses(
  { scripts: { redis }, keyPrefix }: RealmLedger,
  who: string,
  ms: number,
): Promise<void> {
  const slices = Math.ceil(ms / SLICE) + 1;
  const key = `${keyPrefix}:alone:${who}`;
  for (const no of await redis.zrange(key, '0', '-1')) await redis.zincrby(key, -slices * SLICE, no);
  const left = Object.entries(await redis.hgetall(`${key}:left`));
  await redis.del(`${key}:left`);
  for (const [slice, sum] of left) await redis.hset(`${key}:left`, String(Number(slice) - slices), sum);
  for (const marks of await redis.keys(`${keyPrefix}:b:*:alone`))
    for (const [index, mark] of Object.entries(await redis.hgetall(marks)))
      if (mark.endsWith(` ${who}`))
        await redis.hset(marks, index, `${Number.parseInt(mark, 10) - slices} ${who}`);
}
