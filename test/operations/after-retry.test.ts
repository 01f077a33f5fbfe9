import { expect, test } from 'vitest';
import { retryOrder } from '../../src/ledger/moves/retry.js';
import { afterRetry } from '../../src/operations/dead/after-retry.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

test('what became of retried orders is told as it happens; the first end of each counts', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  const retry = (index: number, nonce: string) =>
    retryOrder(batch.ref, index, batch.row(index), { who: 'ada', why: null, at: 1, nonce });
  await feedAll(batch);
  for (const index of [1, 2, 3]) {
    await sendAs(batch, index, 'R');
    expect(await retry(index, `once ${index}`)).toBe('ok');
  }
  const look = afterRetry([1, 2, 3].map((index) => ({ ref: batch.ref, index })));
  expect(await look()).toEqual({ counts: { planned: 3 }, unpaid: [] });
  await sendAs(batch, 1, 'P');
  await sendAs(batch, 2, 'R');
  const told = await look();
  expect(told).toMatchObject({
    counts: { paid: 1, refused: 1, planned: 1 },
    unpaid: [{ order: `${batch.ref.id}-2`, state: 'refused' }],
  });
  expect(await retry(2, 'twice')).toBe('ok');
  expect((await look()).counts).toEqual({ paid: 1, refused: 1, planned: 1 });
});
