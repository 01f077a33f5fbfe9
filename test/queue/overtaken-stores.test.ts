import { expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * A store was rolled back under the same run_id, because it reports none or its data was replaced inside a running
 * server. Another machine has advanced it since, so neither its identity nor its sequence shows the rollback.
 */
const bench = ledgersOnRedis();

async function twoMachines() {
  const ledger = await bench.ledger();
  const batch = await sealed(
    ledger,
    Array.from({ length: 12 }, () => ({})),
  );
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const start = async (folder: string) => (await machines.start(folder)).sender;
  const pays = async (folder: string, ...orders: readonly number[]) => {
    const sender = await start(folder);
    expect(await sender.recover()).toBe(true);
    for (const index of orders) {
      await sender.begin(index);
      await sender.finish('paid');
    }
    return sender;
  };
  const [one, two] = [await tempFolder(), await tempFolder()];
  await (await pays(two, 12)).leave();
  const remember = async () => {
    const armed = (await ledger.scripts.redis.hget(ledger.keyPrefix, 'armed')) ?? '';
    const goBack = await photograph(ledger);
    return async () => {
      await goBack();
      await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', armed);
    };
  };
  const codeOf = async (index: number) => (await readRecord(batch.ref, index)).code;
  return { ledger, machines, start, pays, one, two, remember, codeOf };
}

test('a journal known to the ledger is read again if the store was rolled back and overtaken', async () => {
  const { machines, start, pays, one, two, remember } = await twoMachines();
  const goBack = await remember();
  await (await pays(one, 1, 2)).leave();
  await (await pays(one)).leave();
  await goBack();
  const other = await pays(two, 3, 4, 5, 6, 7);
  const sender = await start(one);
  for (let looks = 0; looks < 4; looks++) {
    await other.recover();
    await sender.recover();
  }
  await sender.begin(1);
  await sender.finish('paid');
  expect(machines.realm.applied.get(1)).toBe(1);
  await other.die();
  await sender.die();
});

test('an order sent by a frozen process of this folder closes the ledger before that process wakes', async () => {
  const { start, pays, one, two, remember } = await twoMachines();
  const goBack = await remember();
  const sleeper = await pays(one, 1, 2);
  await goBack();
  const other = await pays(two, 3, 4, 5, 6, 7);
  const sender = await start(one);
  expect(await sender.recover()).toBe(false);
  await sender.begin(1);
  expect(sender.open).toEqual([]);
  for (const one of [other, sleeper, sender]) await one.die();
});

test('a look for dead sessions that finds a rolled-back store reads every journal', async () => {
  const { pays, start, one, two, remember, codeOf } = await twoMachines();
  const watching = await pays(two);
  const dead = await start(one);
  expect(await dead.recover()).toBe(true);
  const goBack = await remember();
  await (await pays(one, 1)).leave();
  await dead.begin(2);
  await dead.finish('paid');
  await dead.die();
  await goBack();
  await watching.adoptDead();
  for (let looks = 0; looks < 3; looks++) await watching.recover();
  expect([await codeOf(1), await codeOf(2)]).toEqual(['P', 'P']);
  await watching.die();
});
