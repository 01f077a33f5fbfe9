import { expect, test } from 'vitest';
import { closeBreaker } from '../../src/ledger/moves/steer.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { attemptOf, merge } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { begun, feedAll, settleAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

test('a refused order stays refused after a long outage with many attempts', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}]);
  await feedAll(batch);
  // Session 1 sent it, got no answer, and is gone. Others resent it 55 times in a night; then the realm refused it.
  const first = await begun(batch, 1, { nonce: 'of-session-1' });
  await settleAs(batch, 1, 'u', first, { nonce: 'of-session-1' });
  for (let n = 0; n < 55; n++) {
    await closeBreaker(batch.ledger); // reads are answered, and so the probe is
    const again = await begun(batch, 1, { nonce: `again-${n}`, keyAgeMaxMs: 1e9 });
    await settleAs(batch, 1, n === 54 ? 'R' : 'u', again, { nonce: `again-${n}` });
  }
  expect((await readRecord(batch.ref, 1)).code).toBe('R');
  // The store restarts without a loss, and the journal of session 1 is read again.
  const { firstSentAt, sentAt, keyFirstAt } = first;
  const attempt = attemptOf(batch, 1, null, { nonce: 'of-session-1', firstSentAt, sentAt, keyFirstAt });
  await merge(batch, 'idempotent', attempt);
  expect((await readRecord(batch.ref, 1)).code).toBe('R');
});
