import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Certainty } from '../../src/core/profile.js';
import { readRecord } from '../../src/ledger/rows.js';
import { listSessions } from '../../src/ledger/sessions.js';
import { ledgerBench, sealed } from '../support/ledger.js';
import { Clocks, Realm } from '../support/little-realm.js';
import { Sender } from '../support/little-world.js';
import { feedAll } from '../support/order-moves.js';
import { tempFolder } from '../support/temp-folder.js';
import { tieUp } from '../support/tie-up.js';

const bench = ledgerBench();

/** One sender dies with a request under way; what happens to its journal is the test's. Another finds it. */
async function afterDeath(certainty: Certainty, spoil: (folder: string) => Promise<void>) {
  const books = await bench.books();
  const batch = await sealed(books, [{}, {}]);
  await feedAll(batch);
  const clocks = new Clocks();
  const realm = new Realm(certainty === 'idempotent', (index) => batch.row(index).order, clocks);
  const [dying, other] = [await tempFolder(), await tempFolder()];
  const dead = await Sender.start(books, batch, certainty, dying, realm, clocks);
  expect(await dead.recover()).toBe(true);
  for (const index of [1, 2]) await dead.begin(index, null);
  await dead.finish('paid', null);
  await dead.die();
  await spoil(join(dying, 'journal'));
  const finder = await Sender.start(books, batch, certainty, other, realm, clocks);
  expect(await finder.recover()).toBe(true);
  await finder.adoptDead();
  const { code } = await readRecord(batch.ref, 2);
  const sessions = await listSessions(books);
  const ties = await tieUp(books);
  await finder.die();
  return { code, sessions: sessions.length, ties };
}

const lost = (folder: string) => rm(folder, { recursive: true });

/** The first line after the head is spoilt; what follows it can be read. */
async function damaged(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const lines = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, [lines[0], 'spoilt', ...lines.slice(3)].join('\n'));
  }
}

test.each([
  ['manual', 'lost', lost, 'D'],
  ['manual', 'damaged', damaged, 'D'],
  ['idempotent', 'lost', lost, 'u'],
  ['readback', 'lost', lost, 'u'],
] as const)(
  '%s: what a dead process was sending and whose journal is %s is never taken for unsent',
  async (certainty, _, spoil, code) => {
    expect(await afterDeath(certainty, spoil)).toEqual({ code, sessions: 1, ties: [] });
  },
);
