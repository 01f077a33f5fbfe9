import { expect, test } from 'vitest';
import { cancelBatch } from '../../../src/ledger/moves/steer.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { ledgersOnRedis, limitedTo, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
test('a batch cancelled before it sent anything no longer counts at its set time', async () => {
  const limits = { overTokens: 100, overRows: null };
  const ledger = limitedTo(await bench.ledger(), limits);
  const start = { at: Date.now() + 5 * 86_400_000, zone: 'UTC' };
  const wrong = await sealed(ledger, [{ tokens: 100 }], {
    id: 'wrong',
    prepared: { who: 'ada', limits, start },
  });
  expect((await readBatch(wrong.ref))?.gate?.closed).toBe('start-time');
  await cancelBatch(wrong.ref, audit('cancelled'));
  const right = await sealed(ledger, [{ tokens: 100 }], {
    id: 'right',
    prepared: { who: 'ada', limits, start },
  });
  expect((await readBatch(right.ref))?.gate?.closed).toBe('start-time');
});
