import { expect, test } from 'vitest';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, claimFor, feedAll, sendAs, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();

test('in quiet hours no order is sent for the first time, and sent orders are resolved', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}, {}, {}]);
  await feedAll(batch);
  await settleAs(batch, 2, 'u', await begun(batch, 2));
  await sendAs(batch, 3, 'R');
  // The connection was refused, so no byte has left.
  await settleAs(batch, 4, 'w', await begun(batch, 4));
  const HOUR = 3_600_000;
  ledger.mark.quietUntil = () => Date.now() + HOUR;
  // The claim is repeated after half an hour at the latest, because a profile’s quiet hours may be removed.
  expect(await claimFor(batch, 1)).toEqual({ refusal: 'quiet', earlyByMs: HOUR / 2 });
  expect(await begin(batch, 1)).toMatchObject({ refusal: 'quiet', earlyByMs: HOUR / 2 });
  expect(await begin(batch, 2, { nonce: 'again', keyAgeMaxMs: HOUR })).toMatchObject({ resend: true });
  expect(await retryOrder(batch.ref, 3, batch.row(3), { who: 'ada', why: null, at: 1, nonce: 'r' })).toBe(
    'ok',
  );
  expect(await begin(batch, 3, { nonce: 'retried' })).toMatchObject({ attempts: 2 });
  expect(await begin(batch, 4, { nonce: 'next' })).toMatchObject({ refusal: 'quiet' });
  ledger.mark.quietUntil = () => Date.now() - 1;
  expect(await begin(batch, 1)).toMatchObject({ attempts: 1 });
});
