import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** Whatever of the pace is written with a time, each with the keys that hold it. */
const TIMED = {
  pace: ['at', 'clock', 'hold', 'longestAt'],
  learnt: ['since', 'tryAt', 'othersAt', 'strayAt'],
};

/**
 * The store's clock goes back by so much, as the pace sees it: everything that was written is by so much later than
 * the clock says. The clock itself is the machine's, and cannot be stepped by a test.
 */
export async function storeClockGoesBack(
  { scripts: { redis }, keyPrefix }: RealmLedger,
  ms: number,
): Promise<void> {
  const shift = async (key: string, fields: readonly string[]) => {
    for (const [field, value] of Object.entries(await redis.hgetall(key)))
      if (fields.includes(field)) await redis.hset(key, field, (Number(value) + ms).toFixed(3));
  };
  await shift(`${keyPrefix}:pace`, TIMED.pace);
  for (const key of await redis.keys('*:pace:l:*'))
    if (key.startsWith(keyPrefix)) await shift(key, TIMED.learnt);
  for (const key of [`${keyPrefix}:pace:w`, `${keyPrefix}:pace:s`])
    for (const slot of await redis.zrange(key, '0', '-1')) await redis.zincrby(key, String(ms), slot);
  const underWay = `${keyPrefix}:pace:o`;
  for (const [slot, text] of Object.entries(await redis.hgetall(underWay)))
    await redis.hset(
      underWay,
      slot,
      text.replace(/\d+\.\d+/, (time) => (Number(time) + ms).toFixed(3)),
    );
}
