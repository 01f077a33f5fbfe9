import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listJournals } from '../../src/ledger/journal/folder.js';
import { fileName } from '../../src/ledger/journal/journal.js';
import { encodeEntry } from '../../src/ledger/journal/line.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { Sender } from '../support/machines/machines.js';
import { Clocks, PlayedRealm } from '../support/machines/played-realm.js';
import { tempFolder } from '../support/temp-folder.js';

/**
 * A sender dies after the ledger recorded `sending` and before its intent is written. A complete journal proves that
 * nothing was sent. A missing file proves nothing.
 */
const bench = ledgersOnRedis();

/** Returns the state of the order that was never sent. */
async function adopted(spoil: (folder: string, session: string) => Promise<unknown>): Promise<string> {
  const ledger = await bench.ledger();
  const batch = await sealed(ledger, [{}, {}]);
  await feedAll(batch);
  const clocks = new Clocks();
  const realm = new PlayedRealm(true, (index) => batch.row(index).order, clocks);
  const [dying, other] = [await tempFolder(), await tempFolder()];
  const dead = await Sender.start(ledger, batch, 'idempotent', dying, realm, clocks);
  expect(await dead.recover()).toBe(true);
  await dead.begin(1);
  await dead.finish('paid');
  await dead.begin(2, 'begun');
  expect(dead.alive).toBe(false);
  const folder = join(dying, 'journal');
  const [journal] = await listJournals(folder);
  await spoil(folder, journal?.session ?? '');
  const finder = await Sender.start(ledger, batch, 'idempotent', other, realm, clocks);
  expect(await finder.recover()).toBe(true);
  await finder.adoptDead();
  const { code } = await readRecord(batch.ref, 2);
  expect((await readRecord(batch.ref, 1)).code).toBe('P');
  expect(await tieUp(ledger)).toEqual([]);
  await finder.die();
  return code;
}

/** Renumbers the only file as the second, as if the first had been removed. */
const withoutFirst = (folder: string, session: string) =>
  rename(fileName(folder, session, 1), fileName(folder, session, 2));

test('a complete journal: the order goes back to its former state', async () => {
  expect(await adopted(() => Promise.resolve())).toBe('w');
});

test('without the first file: the order is unknown', async () => {
  expect(await adopted(withoutFirst)).toBe('u');
});

test('without the file after the last: the order is unknown', async () => {
  const spoil = (folder: string, session: string) =>
    appendFile(fileName(folder, session, 1), encodeEntry({ kind: 'continues', number: 2 }));
  expect(await adopted(spoil)).toBe('u');
});

test('without a file in the middle: the order is unknown', async () => {
  const spoil = async (folder: string, session: string) => {
    const [head = ''] = (await readFile(fileName(folder, session, 1), 'utf8')).split('\n');
    await writeFile(fileName(folder, session, 3), `${head}\n`);
  };
  expect(await adopted(spoil)).toBe('u');
});

test('without any file: the order is unknown', async () => {
  expect(await adopted((folder) => rm(folder, { recursive: true }))).toBe('u');
});
