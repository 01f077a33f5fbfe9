import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listJournals, noteRemoved } from '../../src/ledger/journal/folder.js';
import { fileName } from '../../src/ledger/journal/journal.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

test('a floor stays unmet although another machine has merged its journals first', async () => {
  const batch = await sealed(
    await bench.ledger(),
    Array.from({ length: 10 }, () => ({})),
  );
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const [one, two] = [await tempFolder(), await tempFolder()];
  const first = await machines.start(one);
  expect(await first.sender.recover()).toBe(true);
  const restore = await photograph(batch.ledger);
  // Machine 2 joins after the backup, pays order 1 and ends. The budget removes its journal, and the floor records
  // that.
  const second = await machines.start(two);
  expect(await second.sender.recover()).toBe(true);
  await second.sender.begin(1);
  await second.sender.finish('paid');
  const { era, seq } = await readFence(batch.ledger);
  await second.sender.leave();
  const journals = join(two, 'journal');
  const session = (await listJournals(journals))[0]?.session ?? '';
  await noteRemoved(journals, session, { [batch.ledger.keyPrefix]: { [era]: seq } }, () =>
    Promise.resolve(false),
  );
  await rm(fileName(journals, session, 1));
  // Machine 1 continues and pays five orders.
  for (const index of [2, 3, 4, 5, 6]) {
    await first.sender.begin(index);
    await first.sender.finish('paid');
  }
  await restore();
  expect(await first.sender.recover()).toBe(true);
  const late = await machines.start(two);
  await late.sender.recover();
  await first.sender.recover();
  await late.sender.recover();
  await late.sender.begin(1);
  await late.sender.finish('paid');
  expect(machines.realm.applied.get(1)).toBe(1);
  await late.sender.die();
  await first.sender.die();
});
