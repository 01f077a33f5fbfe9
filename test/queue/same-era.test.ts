import { expect, test } from 'vitest';
import { ledgersOnRedis, sealed } from '../support/ledgers-on-redis.js';
import { feedAll } from '../support/order-moves.js';
import { Machines } from '../support/sender-in-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { photograph } from '../support/unreliable-store.js';

const bench = ledgersOnRedis();

test.each(['while it lives', 'at its start'])(
  'a store that forgets under the same run_id, found out by a process %s: all journals beside it are merged',
  async (when) => {
    const ledger = await bench.ledger();
    const { redis } = ledger.scripts;
    const batch = await sealed(ledger, [{}, {}, {}]);
    await feedAll(batch);
    const machines = new Machines(bench.redis(), batch, 'manual');
    const folder = await tempFolder();
    const zero = await machines.start(folder);
    expect(await zero.sender.recover()).toBe(true);
    await zero.sender.leave();
    const armed = (await redis.hget(ledger.keyPrefix, 'armed')) ?? '';
    const restore = await photograph(ledger);
    // Monday's run pays order 1 and ends in order.
    const monday = await machines.start(folder);
    expect(await monday.sender.recover()).toBe(true);
    await monday.sender.begin(1);
    await monday.sender.finish('paid');
    await monday.sender.leave();
    // Tuesday's finds all that in the ledger, notes so, and pays order 2.
    let tuesday = await machines.start(folder);
    expect(await tuesday.sender.recover()).toBe(true);
    await tuesday.sender.begin(2);
    await tuesday.sender.finish('paid');
    if (when === 'at its start') await tuesday.sender.leave();
    // The same server gets Sunday's data back (REPLICAOF a backup and NO ONE; or a store that denies INFO): same run_id, same era.
    await restore();
    await redis.hset(ledger.keyPrefix, 'armed', armed);
    if (when === 'at its start') tuesday = await machines.start(folder);
    await tuesday.sender.recover();
    await tuesday.sender.recover();
    await tuesday.sender.begin(1);
    await tuesday.sender.finish('paid');
    expect(machines.realm.applied.get(1)).toBe(1);
    await tuesday.sender.die();
  },
);
