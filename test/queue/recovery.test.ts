import { expect, test } from 'vitest';
import { readFence } from '../../src/ledger/read/fence.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Sender } from '../support/machines/machines.js';
import { Clocks, PlayedRealm } from '../support/machines/played-realm.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

test('a rollback is reported even if answers under way advanced the sequence past the last one seen', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  const clocks = new Clocks();
  const realm = new PlayedRealm(false, (index) => batch.row(index).order, clocks);
  const sender = await Sender.start(ledger, batch, 'manual', await tempFolder(), realm, clocks);
  expect(await sender.recover()).toBe(true);
  const back = await photograph(ledger);
  await sender.begin(1);
  await sender.finish('paid');
  await back();
  await ledger.scripts.redis.hincrby(ledger.keyPrefix, 'seq', 1_000);
  expect((await readFence(ledger)).rollback).toBeNull();
  expect(await sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 1)).code).toBe('P');
  expect((await readFence(ledger)).rollback).toMatchObject({ attempts: 1 });
  await sender.die();
});
