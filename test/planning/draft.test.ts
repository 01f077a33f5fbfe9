import { expect, test } from 'vitest';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { giveCsv, planCsv, putPlan } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';

const bench = ledgersOnRedis();

/** Every key of the store with all that it holds. */
async function photograph({ scripts: { redis } }: RealmLedger): Promise<Map<string, string>> {
  const keys = (await redis.keys('*')).sort();
  const dumps = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  return new Map(keys.map((key, at) => [key, dumps[at]?.toString('hex') ?? '']));
}

test('a draft takes no reference and marks nothing: only the yes does', async () => {
  const ledger = await bench.ledger();
  const first = await giveCsv(ledger, 'member,tokens,reference\n1,5,a\n2,5,b\n', {}, 'P', 'R');
  const order = (n: number) => `${first.ref.id}-${n}`;
  const drafted = [
    'member,op,tokens,reference,almoner_order',
    '3,credit,5,c,', // a new reference
    `2,credit,6,b,${order(2)}`, // stands in for a dead letter
    `1,debit,5,undo:${order(1)},`, // undoes a payment
    '1,credit,5,a,', // spent
  ].join('\n');
  const before = await photograph(ledger);
  const plan = await planCsv(ledger, drafted);
  expect([plan.findings.faults(), plan.totals.rows, plan.spent.count]).toEqual([[], 4, 1]);
  expect(await photograph(ledger)).toEqual(before);

  await putPlan(ledger, plan);
  const after = await photograph(ledger);
  const touched = [...after.keys()].filter((key) => after.get(key) !== before.get(key));
  expect(touched.filter((key) => key.includes(':ref:')).length).toBeGreaterThan(0);
});
