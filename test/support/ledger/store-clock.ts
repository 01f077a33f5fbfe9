import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** The fields of the pace that hold times, by the key that holds them. */
const TIMED = {
  pace: ['at', 'clock', 'hold', 'longestAt'],
  learnt: ['since', 'tryAt', 'othersAt', 'strayAt'],
};

/**
 * Simulates a step of the store's clock back by `ms`: every time that the pace has stored becomes that much later. The
 * real clock is the machine's, and a test cannot step it.
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
