import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { ledgersOnRedis, limitedTo, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const OVER_100: Requirement = { overTokens: 100, overRows: null };
const DAY = 86_400_000;
test('a batch set for a later week does not remove today’s payments from the count', async () => {
  const ledger = limitedTo(await bench.ledger(), OVER_100);
  let paid = 0;
  for (let i = 0; i < 5; i++) {
    const batch = await sealed(ledger, [{ tokens: 100 }], {
      id: `now-${i}`,
      prepared: { who: 'ada', limits: OVER_100 },
    });
    if ((await feedAll(batch)).length === 0) break;
    await sendAs(batch, 1, 'P');
    paid += 100;
    const start = { at: Date.now() + 9 * DAY + i * DAY, zone: 'UTC' };
    await sealed(ledger, [{ tokens: 1 }], {
      id: `later-${i}`,
      prepared: { who: 'ada', limits: OVER_100, start },
    });
  }
  expect(paid).toBeLessThanOrEqual(100);
});
