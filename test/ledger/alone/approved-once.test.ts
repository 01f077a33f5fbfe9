import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import { approve, requestRetry } from '../../../src/ledger/moves/approvals.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { retriesOf } from '../../../src/operations/dead/retries.js';
import { ledgersOnRedis, limitedTo, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begin, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { timePasses } from '../../support/ledger/time-passes.js';

const bench = ledgersOnRedis();
const OVER_100: Requirement = { overTokens: 100, overRows: null };
const DAY = 86_400_000;

async function requested({ ref }: TestBatch, who: string, indexes: readonly number[]) {
  const { tokens, hash } = await retriesOf(ref, indexes);
  const { answer } = await requestRetry(ref, { who, hash, why: null, limits: OVER_100, tokens, indexes });
  return answer;
}
const retry = ({ ref, row }: TestBatch, index: number) =>
  retryOrder(ref, index, row(index), {
    who: 'ada',
    why: null,
    at: 1,
    nonce: `r${Math.random()}`,
    limits: OVER_100,
  });

/** Ages what ada paid alone by that many days. */
const days = (ledger: TestBatch['ledger'], who: string) => timePasses(ledger, who, DAY);

test('a retry within ada’s own limit is sent without a second person', async () => {
  const ledger = limitedTo(await bench.ledger(), OVER_100);
  const prepared = { who: 'ada', limits: OVER_100 };
  const batch = await sealed(ledger, [{ tokens: 60 }], { id: 'mon', prepared });
  await feedAll(batch);
  await sendAs(batch, 1, 'R');
  await days(ledger, 'ada');
  await days(ledger, 'ada');
  expect(await requested(batch, 'ada', [1])).toBe('alone');
  expect(await retry(batch, 1)).toBe('ok');
  const begun = await begin(batch, 1, { nonce: 'n' });
  expect('refusal' in begun ? begun.refusal : 'go').toBe('go');
});

for (const at of [0, 1]) {
  test(`a retry that ben has approved is sent without a second approval (${at === 0 ? 'of a batch that ada paid alone' : 'of a batch of before there were limits'})`, async () => {
    const plain = await bench.ledger();
    const ledger = limitedTo(plain, OVER_100);
    const prepared = { who: 'ada', limits: at === 0 ? OVER_100 : { overTokens: null, overRows: null } };
    const batch = await sealed(at === 0 ? ledger : plain, [{ tokens: at === 0 ? 60 : 500 }], {
      id: 'mon',
      prepared,
    });
    await feedAll(batch);
    await sendAs(batch, 1, 'R');
    await days(ledger, 'ada');
    await days(ledger, 'ada');
    const mine = { ...batch, ledger: { ...ledger, batchers: new Map() } };
    const other = await sealed(ledger, [{ tokens: 50 }], {
      id: 'wed',
      prepared: { who: 'ada', limits: OVER_100 },
    });
    await feedAll(other);
    await sendAs(other, 1, 'P');
    expect(await requested(mine, 'ada', [1])).toBe('asked');
    const hash = (await readBatch(batch.ref))?.retry?.hash ?? '';
    expect(await approve({ kind: 'retry', batch: batch.ref }, { who: 'ben', hash }, null)).toBe('approved');
    expect(await retry(mine, 1)).toBe('ok');
    const begun = await begin(mine, 1, { nonce: 'n' });
    expect('refusal' in begun ? begun.refusal : 'go').toBe('go');
  });
}
