import { expect, test } from 'vitest';
import { runNumber } from '../../src/rules/run-store.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const RUN = {
  ...{ rule: 'thanks', period: '2026-W09', number: null, batch: null, scheduled: false },
  at: Date.parse('2026-03-02T09:00:00Z'),
};

test('a run has a new number only once the batch before is over; one that has a number keeps it', async () => {
  const ledger = await bench.ledger();
  expect(await runNumber(ledger, RUN)).toBe(1);
  const run = { account: 'thanks:2026-W09', limit: null, number: 1, id: 'r1', record: '{}', schedule: null };
  const batch = await sealed(ledger, [{ reference: 'rule:thanks:2026-W09:1' }], { run });
  expect(await runNumber(ledger, RUN)).toBe(1);
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  expect(await runNumber(ledger, RUN)).toBe(2);
  expect(await runNumber(ledger, { ...RUN, period: '2026-W10' })).toBe(1);
  expect(await runNumber(ledger, { ...RUN, number: 1, batch: batch.ref.id })).toBe(1);
  expect(
    await runNumber(ledger, { ...RUN, batch: batch.ref.id }),
    'made before runs were numbered',
  ).toBeNull();
  expect(await runNumber(ledger, { ...RUN, scheduled: true })).toBe(RUN.at);
});
