import { expect, test } from 'vitest';
import type { Requirement } from '../../../src/core/people.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { approveBatch } from '../../support/ledger/approve-batch.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, feedAll, settleAs } from '../../support/ledger/order-moves.js';

const bench = ledgersOnRedis();
const over = (overTokens: number | null): Requirement => ({ overTokens, overRows: null });
const as = (ledger: RealmLedger, overTokens: number | null): RealmLedger => ({
  ...ledger,
  mark: { ...ledger.mark },
  asked: { ...ledger.asked, requirement: over(overTokens) },
  batchers: new Map(),
});
const byAda = (tokens: number | null) => ({ who: 'ada', limits: over(tokens) });

test('orders of a rule’s batch that were under way when its rest was approved can be approved when they come back', async () => {
  const lax = as(await bench.ledger(), null);
  const ledger = as(lax, 100);
  const entry = JSON.stringify({
    hash: 'text',
    approved: { who: 'ada', at: 1, asked: null, audience: null },
  });
  await ledger.scripts.redis.hset(`${ledger.keyPrefix}:rules:schedules`, 'daily', entry);
  const schedule = {
    rule: 'daily',
    hash: 'text',
    audience: 'these',
    preparer: 'ada',
    last: '{"at":5}',
    missed: null,
    only: true,
  };
  const run = { account: 'daily 1', limit: null, number: null, id: 'r', record: '{}', schedule };
  const batch = await sealed(lax, [{ tokens: 1 }, { tokens: 1 }], {
    run: run as never,
    prepared: byAda(null),
  });
  await feedAll(batch);
  const one = await begun(batch, 1, { nonce: 'x1' });
  const mine = { ...batch, ledger, ref: { ...batch.ref, ledger } };
  expect(await begin(mine, 2, { nonce: 'x2' })).toMatchObject({ refusal: 'approval' });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
  await settleAs(batch, 1, 'w', one, { nonce: 'x1' });
  await feedAll(mine);
  expect(await begin(mine, 1, { nonce: 'x3' })).toMatchObject({ refusal: 'approval' });
  expect(await approveBatch(batch.ref, 'ben')).toBe('approved');
});
