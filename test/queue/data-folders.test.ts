import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Here } from '../../src/ledger/here/liveness.js';
import { readPlace, thisMachine } from '../../src/ledger/here/place.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { lossOfRetiring, retireUnseen } from '../../src/ledger/sessions/accept-missing.js';
import { listFolders } from '../../src/ledger/sessions/folders.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph, snapshot } from '../support/ledger/unreliable-store.js';
import { Machines, type Sender } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** A ledger opens only after every data folder that sent orders was read, even if all of its sessions left in order. */
const bench = ledgersOnRedis();
const LATER = Number.MAX_SAFE_INTEGER;
const BY = { who: 'ada', at: 1 };

async function twoMachines() {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const [server, laptop] = [await tempFolder(), await tempFolder()];
  const start = async (folder: string) => {
    const machine = await machines.start(folder);
    return { ...machine, mayBeSent: await machine.sender.recover() };
  };
  return { batch, machines, server, laptop, start };
}

/** Switches the machine off with its folder; `back` switches it on. */
async function away(folder: string): Promise<() => Promise<void>> {
  await rename(folder, `${folder}-away`);
  return () => rename(`${folder}-away`, folder);
}

/** Killed by SIGKILL: its journal stays as it was, without a record of its end. */
async function killed(sender: Sender, folder: string): Promise<void> {
  const journals = join(folder, 'journal');
  const names = await readdir(journals);
  const files = await Promise.all(names.map((name) => readFile(join(journals, name))));
  await sender.die();
  await Promise.all(names.map((name, i) => writeFile(join(journals, name), files[i] ?? '')));
}

const restarted = (ledger: RealmLedger) =>
  ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');
const idsOf = async (ledger: RealmLedger) => (await listFolders(ledger)).map(({ journal }) => journal);

test('a restored store stays closed until the folder of a machine that paid and left was read', async () => {
  const { batch, machines, server, laptop, start } = await twoMachines();
  const on = await start(laptop);
  await on.sender.send(batch, 1, 'paid');
  const restore = await photograph(batch.ledger);
  await on.sender.send(batch, 2, 'paid');
  await on.sender.leave();
  await restore();
  await batch.ledger.scripts.redis.del(`${batch.ledger.keyPrefix}:sessions`);
  const switchOn = await away(laptop);
  const { sender, mayBeSent } = await start(server);
  expect(mayBeSent).toBe(false);
  await switchOn();
  const back = await start(laptop);
  // It found payments that the store forgot, so the other machine merges once more.
  expect(await sender.recover()).toBe(true);
  expect(await back.sender.recover()).toBe(true);
  expect(await sender.send(batch, 2, 'paid')).toBe(false);
  expect(machines.realm.applied.get(2)).toBe(1);
  expect(await tieUp(batch.ledger)).toEqual([]);
  await sender.die();
  await back.sender.die();
});

test('a session registers its folder with its first order, and not before', async () => {
  const { batch, laptop, server, start } = await twoMachines();
  const idle = await start(server);
  await idle.sender.leave();
  expect(await idsOf(batch.ledger)).toEqual([]);
  const on = await start(laptop);
  await on.sender.begin(1);
  expect(await idsOf(batch.ledger)).toEqual([`${laptop}/journal`]);
  await on.sender.finish('paid');
  await on.sender.leave();
  expect(await idsOf(batch.ledger)).toEqual([`${laptop}/journal`]);
});

test('an ephemeral folder is not waited for once its last session has left in order', async () => {
  const { batch, machines } = await twoMachines();
  const folder = await tempFolder();
  const first = await machines.start(folder, { ephemeral: true });
  await first.sender.recover();
  await first.sender.send(batch, 1, 'paid');
  const second = await machines.start(folder, { ephemeral: true });
  await second.sender.recover();
  await second.sender.send(batch, 2, 'paid');
  await second.sender.leave();
  expect(await idsOf(batch.ledger)).toEqual([`${folder}/journal`]);
  await first.sender.leave();
  expect(await idsOf(batch.ledger)).toEqual([]);
});

test('orders that a retired folder may have sent become doubts', async () => {
  const { batch, server, laptop, start } = await twoMachines();
  const on = await start(laptop);
  await on.sender.send(batch, 1, 'paid');
  await on.sender.leave();
  await restarted(batch.ledger);
  const switchOn = await away(laptop);
  const { sender, mayBeSent } = await start(server);
  expect(mayBeSent).toBe(false);
  const context = mergeContext(batch, 'manual');
  expect(await lossOfRetiring(context)).toMatchObject({ exact: false, orders: 3 });
  expect(await retireUnseen(context, LATER, BY)).toMatchObject({ exact: false, orders: 3, folders: 1 });
  expect(await sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 2)).code).toBe('D');
  expect(await tieUp(batch.ledger)).toEqual([]);
  await sender.die();
  await switchOn();
});

test('retiring a folder while the ledger is open makes no doubts, because the ledger was complete when it opened', async () => {
  const { batch, server, laptop, start } = await twoMachines();
  const on = await start(laptop);
  await on.sender.send(batch, 1, 'paid');
  await on.sender.leave();
  const switchOn = await away(laptop);
  const { sender } = await start(server);
  const context = mergeContext(batch, 'manual');
  expect(await lossOfRetiring(context)).toMatchObject({ orders: 0 });
  expect(await retireUnseen(context, LATER, BY)).toEqual({ exact: true, orders: 0, tokens: 0n, folders: 1 });
  await restarted(batch.ledger);
  expect(await sender.recover()).toBe(true);
  expect(await sender.send(batch, 2, 'paid')).toBe(true);
  await sender.die();
  await switchOn();
});

test('orders seen by a live process do not vouch for what a folder sent since: retiring it makes doubts', async () => {
  const { batch, machines, server, laptop, start } = await twoMachines();
  const first = await start(laptop);
  await first.sender.send(batch, 1, 'paid');
  await first.sender.leave();
  const { sender } = await start(server);
  await sender.send(batch, 2, 'paid');
  const restore = await photograph(batch.ledger);
  const second = await start(laptop);
  await second.sender.send(batch, 3, 'paid');
  await second.sender.leave();
  const switchOn = await away(laptop);
  await restore();
  expect(await sender.recover()).toBe(false);
  expect(await retireUnseen(mergeContext(batch, 'manual'), LATER, BY)).toMatchObject({ exact: false });
  expect(await sender.recover()).toBe(true);
  expect(await sender.send(batch, 3, 'paid')).toBe(false);
  expect(machines.realm.applied.get(3)).toBe(1);
  await sender.die();
  await switchOn();
});

test('an ephemeral folder does not retire while the ledger is closed, whichever process leaves it', async () => {
  const { batch, machines, server, start } = await twoMachines();
  const folder = await tempFolder();
  const ephemeral = () => machines.start(folder, { ephemeral: true });
  const idle = await ephemeral();
  await idle.sender.recover();
  const payer = await ephemeral();
  await payer.sender.recover();
  await payer.sender.send(batch, 1, 'paid');
  const restore = await photograph(batch.ledger);
  await payer.sender.send(batch, 2, 'paid');
  await payer.sender.leave();
  await restore();
  await batch.ledger.scripts.redis.hdel(`${batch.ledger.keyPrefix}:sessions`, payer.sender.session.id);
  await idle.sender.leave();
  const switchOn = await away(folder);
  const { sender, mayBeSent } = await start(server);
  expect(mayBeSent).toBe(false);
  expect(machines.realm.applied.get(2)).toBe(1);
  await sender.die();
  await switchOn();
});

test('a killed session that may live elsewhere is waited for, however much others have merged', async () => {
  const { batch, machines, server, laptop, start } = await twoMachines();
  const payer = await start(laptop);
  await payer.sender.send(batch, 1, 'paid');
  const restore = await photograph(batch.ledger);
  const { sender } = await start(server);
  await payer.sender.send(batch, 2, 'paid');
  await killed(payer.sender, laptop);
  for (const index of [3, 4]) await sender.send(batch, index, 'paid');
  await restore();
  await batch.ledger.scripts.redis.del(`${batch.ledger.keyPrefix}:sessions`);
  const switchOn = await away(laptop);
  expect(await sender.recover()).toBe(false);
  await switchOn();
  // Booted on a file system that is not known to be the machine's own: whether the first one lives cannot be told.
  const placeAt = async (at: string) => {
    const place = await readPlace(at);
    return place && { ...place, isLocal: false };
  };
  const booted = { ...(await thisMachine()), boot: 'later', space: 'later', placeAt };
  const here = new Here(laptop, Promise.resolve(booted));
  const back = await machines.start(laptop, { here });
  Object.assign(back.ledger.scripts, { here });
  expect(await back.sender.recover()).toBe(false);
  const switchOnAgain = await away(laptop);
  expect(await sender.recover()).toBe(false);
  expect(machines.realm.applied.get(2)).toBe(1);
  await sender.die();
  await switchOnAgain();
  await back.sender.die();
});

test('a copy taken while the ledger was closed and loaded under the same run_id does not open it', async () => {
  const { batch, machines, server, laptop, start } = await twoMachines();
  const early = await start(server);
  await early.sender.send(batch, 1, 'paid');
  const on = await start(laptop);
  await on.sender.send(batch, 2, 'paid');
  await restarted(batch.ledger);
  expect(await on.sender.recover()).toBe(false);
  const putBack = await snapshot(batch.ledger);
  expect(await early.sender.recover()).toBe(true);
  await early.sender.send(batch, 4, 'paid');
  await early.sender.die();
  expect(await on.sender.recover()).toBe(true);
  await on.sender.send(batch, 3, 'paid');
  await on.sender.die();
  await putBack();
  const switchOn = await away(laptop);
  const { sender, mayBeSent } = await start(server);
  expect(mayBeSent).toBe(false);
  expect(machines.realm.applied.get(3)).toBe(1);
  await sender.die();
  await switchOn();
});

test('a folder that was read since then, or that a registered session uses, is not retired', async () => {
  const { batch, server, start } = await twoMachines();
  const { sender } = await start(server);
  await sender.send(batch, 1, 'paid');
  const context = mergeContext(batch, 'manual');
  expect(await retireUnseen(context, LATER, BY)).toBeNull();
  await sender.leave();
  expect(await retireUnseen(context, 1, BY)).toBeNull();
  expect(await idsOf(batch.ledger)).toHaveLength(1);
  expect((await readFence(batch.ledger)).armed).toBe(true);
});

test('a retired folder that comes back is merged, and known again', async () => {
  const { batch, machines, server, laptop, start } = await twoMachines();
  const on = await start(laptop);
  await on.sender.send(batch, 1, 'paid');
  const restore = await photograph(batch.ledger);
  await on.sender.send(batch, 2, 'paid');
  await on.sender.leave();
  await restore();
  await batch.ledger.scripts.redis.del(`${batch.ledger.keyPrefix}:sessions`);
  const switchOn = await away(laptop);
  const { sender } = await start(server);
  await retireUnseen(mergeContext(batch, 'manual'), LATER, BY);
  expect(await sender.recover()).toBe(true);
  expect(await idsOf(batch.ledger)).toEqual([]);
  await switchOn();
  const back = await start(laptop);
  expect(await sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 2)).code).toBe('P');
  expect(machines.realm.applied.get(2)).toBe(1);
  expect(await idsOf(batch.ledger)).toEqual([`${laptop}/journal`]);
  await sender.die();
  await back.sender.die();
});

test('a session records whether its folder is ephemeral', async () => {
  const session = await Session.open('worker', await tempFolder(), { ephemeral: true });
  expect(session.entry.ephemeral).toBe(true);
  await session.close();
});
