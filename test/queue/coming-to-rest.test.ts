import { expect, test } from 'vitest';
import { readFence } from '../../src/ledger/read/fence.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

test('after a restore two processes stop reopening the ledger', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'idempotent');
  const first = await machines.start(await tempFolder());
  expect(await first.sender.recover()).toBe(true);
  const restore = await photograph(ledger);
  // Machine 2 joins after the backup. Order 1 is applied, and its answer is lost.
  const second = await machines.start(await tempFolder());
  expect(await second.sender.recover()).toBe(true);
  await second.sender.begin(1);
  await second.sender.finish('lost-after');
  await restore();
  expect(await first.sender.recover()).toBe(true);
  await new Promise((r) => setTimeout(r, 20));
  await first.sender.begin(1);
  await first.sender.finish('paid'); // by its key: applied once
  expect((await readRecord(batch.ref, 1)).code).toBe('P');
  expect(machines.realm.applied.get(1)).toBe(1);
  const eras: string[] = [];
  for (let round = 0; round < 30; round++) {
    const b = await second.sender.recover();
    const a = await first.sender.recover();
    eras.push(`${(await readFence(ledger)).era} ${a} ${b}`);
  }
  expect(new Set(eras.slice(-10)).size).toBe(1);
  await first.sender.die();
  await second.sender.die();
});
