import { expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { BatchDigest, shortId } from '../../src/planning/paid-before/identity.js';
import { type Line, ledgersOnRedis, planRow, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();
const A: Line = { member: '1001', tokens: 5 };
const B: Line = { member: '1002', tokens: 700 };
const BAD: Line = { invalid: true };

/** As plan.ts counts it: left-out rows are no part of it. */
function idOf(lines: readonly Line[]) {
  const digest = new BatchDigest({ baseUrl: 'http://127.0.0.1:1', realmId: 'r' }, null, null);
  for (const [i, line] of lines.entries()) {
    const { order, reference, replaces } = planRow(line, i + 1);
    if (order !== null) digest.add({ order, reference, replaces });
  }
  return shortId(digest.hex());
}

async function imported(before: readonly Line[], after: readonly Line[], id: string, pays: number) {
  const ledger = await bench.ledger();
  const restore = await photograph(ledger);
  const first = await sealed(ledger, before, { id });
  await feedAll(first);
  const folder = await tempFolder();
  const monday = await new Machines(bench.redis(), first, 'manual').start(folder);
  expect(await monday.sender.recover()).toBe(true);
  await monday.sender.begin(pays);
  await monday.sender.finish('paid');
  await monday.sender.leave();
  // The store is restored to before the import; `recover` says to run the file of each forgotten batch again.
  await restore();
  const again = await sealed(ledger, after, { id });
  const tuesday = await new Machines(bench.redis(), again, 'manual').start(folder);
  expect(await tuesday.sender.recover()).toBe(true);
  await tuesday.sender.recover();
  await feedAll(again);
  const codes = await Promise.all(after.map(async (_, i) => (await readRecord(again.ref, i + 1)).code));
  await tuesday.sender.die();
  return codes;
}

test('removed or added left-out rows do not let the attempts of one row pay another', async () => {
  expect(idOf([BAD, A, B])).toBe(idOf([A, B]));
  expect(await imported([BAD, A, B], [A, B], idOf([A, B]), 2)).toEqual(['D', 'D']);
  expect(await imported([A, B], [BAD, A, B], 'same', 1)).toEqual(['i', 'D', 'D']);
});

test('no order is paid by the attempts of the orders that had its batch id (--batch-id) before', async () => {
  expect(await imported([A], [B], 'week-12', 1)).toEqual(['D']);
});
