import { expect, test } from 'vitest';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

test('journals with missing attempts close the ledger, even if its sequence has caught up meanwhile', async () => {
  const ledger = await bench.ledger();
  const batch = await sealed(
    ledger,
    Array.from({ length: 9 }, () => ({})),
  );
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const [one, two] = [await tempFolder(), await tempFolder()];
  const first = await machines.start(one);
  expect(await first.sender.recover()).toBe(true);
  const restore = await photograph(ledger);
  const second = await machines.start(two);
  expect(await second.sender.recover()).toBe(true);
  for (const index of [1, 2]) {
    await second.sender.begin(index);
    await second.sender.finish('paid');
  }
  await second.sender.leave();
  await restore();
  expect(await first.sender.recover()).toBe(true); // machine 1 arms and goes on
  await first.sender.begin(5);
  await first.sender.finish('paid');
  const late = await machines.start(two);
  // Machine 1 continues paying while machine 2 reads its journals, and then while it merges them.
  const script = late.ledger.scripts.script.bind(late.ledger.scripts);
  let busy = false;
  const seen: string[] = [];
  late.ledger.scripts.script = async (name, realm, args, again) => {
    if (!busy && (name === 'disarm' || name === 'replay')) {
      busy = true;
      const indexes = name === 'disarm' ? [6, 7] : [2];
      for (const index of indexes) {
        await first.sender.begin(index);
        await first.sender.finish('paid');
      }
      busy = false;
    }
    const reply = await script(name, realm, args, again);
    if (name === 'disarm') seen.push(`disarm: ${String(reply)}`);
    if (name === 'replay') seen.push('replay');
    return reply;
  };
  await late.sender.recover();
  expect(machines.realm.applied.get(2)).toBe(1);
  await first.sender.die();
  await late.sender.die();
});
