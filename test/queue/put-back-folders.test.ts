import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Here } from '../../src/ledger/here/liveness.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { acceptJournal, isDamaged, retireUnseen } from '../../src/ledger/sessions/accept-missing.js';
import { foldersOf } from '../../src/ledger/sessions/folders.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

/** Two data folders on one machine share an outside store. One is restored together with the store. */
const bench = ledgersOnRedis();

async function twoFolders() {
  const plain = await bench.ledger();
  const state = await tempFolder();
  const [ours, theirs] = [await tempFolder(), await tempFolder()];
  const hereAt = (folder: string) => new Here(folder, undefined, state);
  const on = (folder: string) => {
    const redis = bench.redis().client();
    const scripts = new ScriptClient(redis, 10_000, () => {}, { here: hereAt(folder) });
    return openLedger(scripts, plain.realm, plain.asked);
  };
  const batch = await sealed(on(ours), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'manual');
  const start = (folder: string) => machines.start(folder, { here: hereAt(folder) });
  return { batch, machines, ours, theirs, start, ledger: on(ours) };
}

/** Restores older files into the same folder, so that its identity stays. */
async function putBack(copy: string, folder: string): Promise<void> {
  for (const name of await readdir(join(folder, 'journal'))) await rm(join(folder, 'journal', name));
  await cp(join(copy, 'journal'), join(folder, 'journal'), { recursive: true });
}

test('a data folder restored with its store is waited for until a person gives it up', async () => {
  const { batch, machines, ours, theirs, start, ledger } = await twoFolders();
  const one = await start(theirs);
  expect(await one.sender.recover()).toBe(true);
  await one.sender.send(batch, 1, 'paid');
  await one.sender.leave();
  const copy = await tempFolder();
  await cp(join(theirs, 'journal'), join(copy, 'journal'), { recursive: true });
  const restore = await photograph(batch.ledger);
  const two = await start(theirs);
  expect(await two.sender.recover()).toBe(true);
  await two.sender.send(batch, 2, 'paid');
  await two.sender.leave();
  await restore();
  await putBack(copy, theirs);
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');

  const own = await start(ours);
  expect(await own.sender.recover()).toBe(false);
  const [folder] = await foldersOf(ledger);
  expect(folder).toMatchObject({ journal: join(theirs, 'journal'), isAway: true, fault: { what: 'behind' } });
  const context = mergeContext({ ...batch, ledger }, 'manual');
  expect(await retireUnseen(context, Date.now() + 1_000, { who: 'ada', at: 1 })).toMatchObject({
    folders: 1,
    orders: 2,
  });
  expect(await own.sender.recover()).toBe(true);
  await own.sender.send(batch, 2, 'paid');
  expect(machines.realm.applied.get(2)).toBe(1);
  await own.sender.die();
});

/** A sender paid two orders and left, the store forgot the second, and lines of the journal are corrupted. */
async function spoilt(spoil: (lines: string[]) => void) {
  const two = await twoFolders();
  const { batch, ours, start, ledger } = two;
  const one = await start(ours);
  expect(await one.sender.recover()).toBe(true);
  await one.sender.send(batch, 1, 'paid');
  const restore = await photograph(batch.ledger);
  await one.sender.send(batch, 2, 'paid');
  await one.sender.leave();
  await restore();
  // With its registration, a store of the same run_id would find the session at work.
  await ledger.scripts.redis.del(`${ledger.keyPrefix}:sessions`);
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'another-server');
  const [name = ''] = (await readdir(join(ours, 'journal'))).filter((file) => file.endsWith('.journal'));
  const path = join(ours, 'journal', name);
  const whole = await readFile(path, 'utf8');
  const lines = whole.split('\n');
  spoil(lines);
  await writeFile(path, lines.join('\n'));
  const next = await start(ours);
  expect(await next.sender.recover()).toBe(false);
  const [folder] = await foldersOf(ledger);
  const session = name.slice(0, 12);
  expect(folder).toMatchObject({ isAway: true, fault: { what: 'damaged', session, path } });
  return { ...two, path, whole, next, session };
}

const intentOf = (index: number) => (line: string) =>
  line.includes('["I"') && line.includes(`"index":${index},`);

test('a journal with a damaged line keeps the ledger closed until the file is restored', async () => {
  const { batch, path, whole, next, ours, start, machines } = await spoilt((lines) => {
    const at = lines.findIndex(intentOf(2));
    lines[at] = `x${lines[at]}`;
  });
  await writeFile(path, whole);
  const after = await start(ours);
  await after.sender.recover();
  expect(await next.sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 2)).code).toBe('P');
  expect(await next.sender.send(batch, 2, 'paid')).toBe(false);
  expect(machines.realm.applied.get(2)).toBe(1);
  await after.sender.die();
  await next.sender.die();
});

test('once a person gives the journal up, its unreadable lines make doubts, once and for all', async () => {
  const { batch, ledger, session, next, ours, start } = await spoilt((lines) => {
    const at = lines.findIndex(intentOf(2));
    lines[at] = `x${lines[at]}`;
  });
  expect(await isDamaged(ledger, session)).toBe(true);
  const context = mergeContext({ ...batch, ledger }, 'manual');
  expect(await acceptJournal(context, session, { who: 'ada', at: 1 })).toMatchObject({ orders: 2 });
  const after = await start(ours);
  await after.sender.recover();
  expect(await next.sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 2)).code).toBe('D');
  await next.sender.leave();
  await after.sender.leave();
  await ledger.scripts.redis.hset(ledger.keyPrefix, 'armed', 'a-third-server');
  const later = await start(ours);
  expect(await later.sender.recover()).toBe(true);
  await later.sender.leave();
});

test('an unreadable head does not hide the lines after it', async () => {
  const { batch, next } = await spoilt((lines) => {
    lines[0] = `x${lines[0]}`;
  });
  expect((await readRecord(batch.ref, 2)).code).toBe('P');
  await next.sender.die();
});
