import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Here } from '../../src/ledger/here/liveness.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { retireUnseen } from '../../src/ledger/sessions/accept-missing.js';
import { listFolders } from '../../src/ledger/sessions/folders.js';
import { recoverRealms } from '../../src/operations/services/recover.js';
import { App } from '../../src/runtime/app.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { audit, feedAll } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { resume } from '../support/ledger/resume.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines, type Sender } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** A process leaves a closed ledger before it has merged. The ledger still waits for its folder’s journals. */
const bench = ledgersOnRedis();

type AfterRollback = 'wait' | 'continue';

/**
 * Machine `there` paid orders 1 and 2 and left. The store was rolled back to before it knew that machine. `here` is at
 * work.
 */
async function forgottenMachine(afterRollback: AfterRollback) {
  const batch = await sealed(await bench.ledger({ afterRollback }), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const here = await machines.start(await tempFolder());
  expect(await here.sender.recover()).toBe(true);
  const restore = await photograph(batch.ledger);
  const folder = await tempFolder();
  const there = await machines.start(folder);
  expect(await there.sender.recover()).toBe(true);
  for (const index of [1, 2]) await there.sender.send(batch, index, 'paid');
  await there.sender.leave();
  await restore();
  /**
   * `here` may open the ledger and continue, after a person’s decision if one is needed. Order 2 must not be applied
   * again.
   */
  const goOnHere = async () => {
    const isOpen = await here.sender.recover();
    await resume(batch.ledger, audit('resumed'));
    await here.sender.begin(2);
    await here.sender.finish('paid');
    expect(machines.realm.applied.get(2)).toBe(1);
    await here.sender.die();
    return isOpen;
  };
  return { batch, machines, folder, restore, goOnHere, here };
}

type Scripts = ScriptClient['script'];

/** The program on the machine of that folder; `between` runs before each script call. */
function appIn(
  folder: string,
  { ledger }: { readonly ledger: { readonly realm: { name: string; baseUrl: string; realmId: string } } },
  options: {
    readonly afterRollback?: AfterRollback;
    readonly ephemeral?: boolean;
    readonly between?: (name: string) => Promise<void>;
  } = {},
): App {
  const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {}, { here: new Here(folder) });
  const script: Scripts = scripts.script.bind(scripts);
  scripts.script = async (name, ...rest) => {
    await options.between?.(name);
    return script(name, ...rest);
  };
  const { name, baseUrl, realmId } = ledger.realm;
  const { afterRollback = 'wait', ephemeral = false } = options;
  const profile = testProfile({ name, baseUrl, realmId, certainty: 'manual', afterRollback });
  const limits = { mergePatienceMs: 0 };
  return Object.create(App.prototype, {
    scripts: { value: scripts },
    config: { value: { profiles: [profile], dataFolder: folder, operator: 'ada', limits, ephemeral } },
    openings: { value: new Map() },
    logger: { value: { warn: () => {} } },
  });
}

const refuses = (script: string) => (name: string) =>
  name === script ? Promise.reject(new Error('OOM command not allowed')) : Promise.resolve();

test.each(['wait', 'continue'] as const)(
  'a recovery that fails after it closed the ledger leaves its folder to be waited for (%s)',
  async (afterRollback) => {
    const { batch, folder, goOnHere } = await forgottenMachine(afterRollback);
    const app = appIn(folder, batch, { afterRollback, between: refuses('replay') });
    await expect(recoverRealms(app)).rejects.toThrow('OOM');
    expect(await readFence(batch.ledger)).toMatchObject({ armed: false, lowered: true });
    expect(await listSessions(batch.ledger)).toHaveLength(1);
    await rename(folder, `${folder}-away`);
    expect(await goOnHere()).toBe(false);
    await rename(`${folder}-away`, folder);
  },
);

test('the folder of a worker that is stopped before it has merged is still waited for', async () => {
  const { batch, machines, folder, goOnHere } = await forgottenMachine('continue');
  const again = await machines.start(folder);
  const { scripts } = again.ledger;
  const script: Scripts = scripts.script.bind(scripts);
  scripts.script = async (name, ...rest) => {
    await refuses('replay')(name);
    return script(name, ...rest);
  };
  await expect(again.sender.recover()).rejects.toThrow('OOM');
  expect((await readFence(batch.ledger)).armed).toBe(false);
  await again.sender.leave();
  await rename(folder, `${folder}-away`);
  expect(await goOnHere()).toBe(false);
  await rename(`${folder}-away`, folder);
});

test('a store that is restored again while recover merges is recovered again', async () => {
  const { batch, folder, restore, goOnHere, here } = await forgottenMachine('wait');
  let restores = 0;
  const between = async (name: string) => {
    if (name === 'merged' && restores === 0) {
      restores += 1;
      await bench.redis().kill();
      await bench.redis().restart();
      await restore();
    }
    // The other machine looks as soon as the command leaves.
    if (name === 'leave') await here.sender.recover();
  };
  const { merged } = await recoverRealms(appIn(folder, batch, { between }));
  expect({ merged, restores }).toEqual({ merged: 2, restores: 1 });
  await goOnHere();
});

test('a retired folder that comes back is waited for again, although it has sent nothing since', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const [server, laptop] = [await tempFolder(), await tempFolder()];
  const on = await machines.start(laptop);
  expect(await on.sender.recover()).toBe(true);
  await on.sender.send(batch, 1, 'paid');
  await on.sender.leave();
  const here = await machines.start(server);
  expect(await here.sender.recover()).toBe(true);
  await rename(laptop, `${laptop}-away`);
  await retireUnseen(mergeContext(batch, 'manual'), Number.MAX_SAFE_INTEGER, { who: 'ada', at: 1 });
  await rename(`${laptop}-away`, laptop);
  expect(await listFolders(batch.ledger)).toEqual([]);
  await recoverRealms(appIn(laptop, batch));
  expect(await listFolders(batch.ledger)).toMatchObject([{ journal: join(laptop, 'journal') }]);
  // The folder was read and retired again; the record of that look shows that it sent orders.
  await batch.ledger.scripts.redis.del(`${batch.ledger.keyPrefix}:dataFolders`);
  await recoverRealms(appIn(laptop, batch));
  expect(await listFolders(batch.ledger)).toMatchObject([{ journal: join(laptop, 'journal') }]);
  await here.sender.die();
});

test('an ephemeral folder retires itself with the last session that leaves it, even one that recovers', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const folder = await tempFolder();
  const first = await machines.start(folder, { ephemeral: true });
  expect(await first.sender.recover()).toBe(true);
  await first.sender.send(batch, 1, 'paid');
  await killed(first.sender, folder);
  await recoverRealms(appIn(folder, batch, { ephemeral: true }));
  expect(await listFolders(batch.ledger)).toEqual([]);

  const second = await machines.start(folder, { ephemeral: true });
  expect(await second.sender.recover()).toBe(true);
  await second.sender.send(batch, 2, 'paid');
  let isFirst = true;
  const between = async (name: string) => {
    if (name !== 'leave' || !isFirst) return;
    isFirst = false;
    await second.sender.leave();
  };
  await recoverRealms(appIn(folder, batch, { ephemeral: true, between }));
  expect(await listFolders(batch.ledger)).toEqual([]);
});

/** Killed by SIGKILL: its journal stays as it was, without a record of its end. */
async function killed(sender: Sender, folder: string): Promise<void> {
  const journals = join(folder, 'journal');
  const names = await readdir(journals);
  const files = await Promise.all(names.map((name) => readFile(join(journals, name))));
  await sender.die();
  await Promise.all(names.map((name, i) => writeFile(join(journals, name), files[i] ?? '')));
}
