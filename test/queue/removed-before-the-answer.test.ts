import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listJournals } from '../../src/ledger/journal/folder.js';
import { readFence } from '../../src/ledger/read/fence.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/**
 * A journal file was removed after the ledger had settled all of it. A store restored to before that, even to between
 * an intent and its answer, has forgotten what no journal holds any more.
 */
const bench = ledgersOnRedis();
const FILE_COUNTS_AS = 32 * 1024;
const A_FILE_EACH = { fileBytesMax: 100, folderBytesMax: 1 << 30 };

async function threeOrders() {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  await feedAll(batch);
  return { batch, machines: new Machines(bench.redis(), batch, 'manual'), folder: await tempFolder() };
}

test('of a dead session: the order that it was sending at that moment is not resent', async () => {
  const { batch, machines, folder } = await threeOrders();
  const dead = await machines.start(folder, { limits: A_FILE_EACH });
  expect(await dead.sender.recover()).toBe(true);
  await dead.sender.begin(1);
  const restore = await photograph(batch.ledger);
  await dead.sender.finish('paid');
  await dead.sender.begin(2);
  await dead.sender.finish('paid');
  await dead.sender.die();
  const journals = join(folder, 'journal');
  const [files = []] = (await listJournals(journals)).map((one) => one.files);
  const texts = await Promise.all(files.map(({ path }) => readFile(path, 'utf8')));
  const upTo = texts.findIndex((text) => text.includes('"index":1'));
  expect([upTo >= 0, files.length > upTo + 1]).toEqual([true, true]);
  const next = await machines.start(folder);
  expect(await next.sender.recover()).toBe(true);
  await next.sender.leave();
  // Besides those files there is one of the merged session and one of the session that removes files.
  const folderBytesMax = (files.length - upTo - 1 + 2) * FILE_COUNTS_AS;
  await (await Session.open('run', folder, { limits: { ...A_FILE_EACH, folderBytesMax } })).close();
  const left = (await listJournals(journals)).flatMap((one) => one.files.map(({ path }) => path));
  expect(files.filter(({ path }) => left.includes(path))).toEqual(files.slice(upTo + 1));

  await restore();
  expect((await readRecord(batch.ref, 1)).code).toBe('s');
  const last = await machines.start(folder);
  expect(await last.sender.recover()).toBe(false);
  expect((await readFence(last.ledger)).reason).not.toBeNull();
  expect((await readRecord(batch.ref, 1)).code).toBe('s');
  await last.sender.die();
});

test('of the session itself: the order that it was sending at that moment is not resent', async () => {
  const { batch, machines, folder } = await threeOrders();
  const limits = { fileBytesMax: 100, folderBytesMax: FILE_COUNTS_AS };
  const { sender, ledger } = await machines.start(folder, { limits });
  expect(await sender.recover()).toBe(true);
  await sender.begin(1);
  const restore = await photograph(batch.ledger);
  await sender.finish('paid');
  await sender.begin(2);
  // Only the file with the first intent is removed, so that no later one raises the recorded floor.
  await until('the first file to be removed', async () => {
    const [files = []] = (await listJournals(join(folder, 'journal'))).map((one) => one.files);
    const texts = await Promise.all(files.map(({ path }) => readFile(path, 'utf8').catch(() => '')));
    const text = texts.join('');
    return text.includes('"index":2') && !text.includes('"index":1');
  });

  await restore();
  expect((await readRecord(batch.ref, 1)).code).toBe('s');
  expect(await sender.recover()).toBe(false);
  expect((await readFence(ledger)).reason).not.toBeNull();
  expect((await readRecord(batch.ref, 1)).code).toBe('s');
  await sender.die();
});
