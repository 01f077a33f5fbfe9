import { expect, test } from 'vitest';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** Beside a journal stands that the ledger knew all of it. A ledger that went back may not know it any more. */
const bench = ledgersOnRedis();

test('a journal that was found in the ledger is read again where the store went back and was overtaken', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(
    ledger,
    Array.from({ length: 12 }, () => ({})),
  );
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const [one, two] = [await tempFolder(), await tempFolder()];
  const pays = async (folder: string, orders: readonly number[]) => {
    const { sender } = await machines.start(folder);
    expect(await sender.recover()).toBe(true);
    for (const index of orders) {
      await sender.begin(index);
      await sender.finish('paid');
    }
    return sender;
  };
  await (await pays(two, [12])).leave();
  const armed = (await ledger.scripts.redis.hget(ledger.keyPrefix, 'armed')) ?? '';
  const goBack = await photograph(ledger);
  await (await pays(one, [1, 2])).leave();
  await (await pays(one, [])).leave();
  // Under the same run_id: a store that does not tell it, or data that was replaced inside a running server.
  await goBack();
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', armed);
  const other = await pays(two, [3, 4, 5, 6, 7]);
  const { sender } = await machines.start(one);
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
