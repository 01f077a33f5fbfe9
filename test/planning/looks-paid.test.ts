import { expect, test } from 'vitest';
import { planCsv, putPlan, settleRows } from '../support/ledger/csv-plans.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';

const bench = ledgersOnRedis();
const bare = (...members: number[]) => `member,tokens\n${members.map((member) => `${member},5\n`).join('')}`;

test('an unfinished batch is not reported as running, because its process may be gone', async () => {
  const ledger = await bench.ledger();
  const first = await settleRows(await putPlan(ledger, await planCsv(ledger, bare(1, 2))), 'P');
  const [fault] = (await planCsv(ledger, bare(1, 2, 3))).findings.faults();
  expect(fault?.message).toMatch(new RegExp(`lines 2-3 in batch ${first.ref.id} .*, not finished\\)`));
});
