import { expect, test } from 'vitest';
import { Here } from '../../src/ledger/here/liveness.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { recoverRealms } from '../../src/operations/services/recover.js';
import { App } from '../../src/runtime/app.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

test('the ledger stays closed while `recover` on another machine still merges', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const here = await machines.start(await tempFolder());
  expect(await here.sender.recover()).toBe(true);
  const restore = await photograph(batch.ledger);
  const folder = await tempFolder();
  const there = await machines.start(folder);
  expect(await there.sender.recover()).toBe(true);
  for (const index of [1, 2]) {
    await there.sender.begin(index);
    await there.sender.finish('paid');
  }
  await there.sender.leave();
  await restore();

  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {}, { here: new Here(folder) });
  const script = scripts.script.bind(scripts);
  let armed: boolean | null = null;
  scripts.script = async (name, ...rest) => {
    const reply = await script(name, ...rest);
    if (name !== 'disarm' || armed !== null) return reply;
    armed = await here.sender.recover();
    await here.sender.begin(2);
    await here.sender.finish('paid');
    return reply;
  };
  const { name, baseUrl, realmId } = batch.ledger.realm;
  const profile = testProfile({ name, baseUrl, realmId, certainty: 'manual' });
  const app: App = Object.create(App.prototype, {
    scripts: { value: scripts },
    config: {
      value: { profiles: [profile], dataFolder: folder, operator: 'ada', limits: { mergePatienceMs: 0 } },
    },
    openings: { value: new Map() },
    logger: { value: { warn: () => {} } },
  });
  await recoverRealms(app);
  expect(armed).toBe(false);
  expect(machines.realm.applied.get(2)).toBe(1);
  expect(await here.sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 2)).code).toBe('P');
  expect(await listSessions(batch.ledger)).toHaveLength(1);
  await here.sender.die();
});
