import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Here } from '../../../src/ledger/here/liveness.js';
import { foldersThatPaid, PositionNotes, readPositions } from '../../../src/ledger/journal/positions.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();
const SESSIONS = ['000000000001', '000000000002', '000000000003'] as const;

function ledgerOf(rehearsal = false) {
  // The store lies in the data folder, so it records no witness.
  const here = new Here(null, undefined, null, true);
  const scripts = new ScriptClient(bench.redis().client(), 1_000, () => {}, { here: here });
  return openLedger(scripts, { name: 'town', baseUrl: 'http://town', realmId: 'town', rehearsal });
}

async function places() {
  const [journals, state] = [await tempFolder(), await tempFolder()];
  const notes = (session: string, witness: string | null = join(state, 'n'), dead: readonly string[] = []) =>
    new PositionNotes({
      ...{ session, dataFolder: '/data', journals, number: 'n', witness },
      isDead: (one) => Promise.resolve(dead.includes(one)),
    });
  return { journals, state, witness: join(state, 'n'), notes };
}

test('before the first request leaves, the position is recorded beside the journals and in the witness', async () => {
  const { journals, state, witness, notes } = await places();
  const ledger = ledgerOf();
  await notes(SESSIONS[0]).sends(ledger, 7);
  for (const folder of [journals, witness])
    expect((await readPositions(folder))[ledger.keyPrefix]).toMatchObject({ seq: 7 });
  expect([...(await foldersThatPaid(state, ledger.keyPrefix)).values()]).toMatchObject([
    { folder: '/data', seq: 7 },
  ]);
});

test('a rehearsal records no position', async () => {
  const { journals, notes } = await places();
  const own = notes(SESSIONS[0]);
  await own.sends(ledgerOf(true), 7);
  await own.end();
  expect(await readdir(journals)).toEqual([]);
});

test('if the note beside the journals cannot be written, the witness does not run ahead of it', async () => {
  const { witness, notes } = await places();
  const blocked = join(await tempFolder(), 'file');
  await writeFile(blocked, '');
  const own = new PositionNotes({
    ...{ session: SESSIONS[0], dataFolder: '/data', journals: blocked, number: 'n', witness },
    isDead: () => Promise.resolve(false),
  });
  await own.sends(ledgerOf(), 7);
  expect(await readPositions(witness)).toEqual({});
  // With only the witness blocked, payments continue.
  await notes(SESSIONS[1], blocked).sends(ledgerOf(), 8);
});

test('the witness does not run ahead of a session that advances while its note is written', async () => {
  const { journals, witness, notes } = await places();
  const ledger = ledgerOf();
  await notes(SESSIONS[1]).sends(ledger, 3);
  // The note in the witness is written after the liveness check of the other session.
  const own = new PositionNotes({
    ...{ session: SESSIONS[0], dataFolder: '/data', journals, number: 'n', witness },
    isDead: () => {
      own.saw(ledger, 9);
      return Promise.resolve(false);
    },
  });
  await own.sends(ledger, 7);
  const [inFolder, outside] = await Promise.all([journals, witness].map(readPositions));
  expect(outside?.[ledger.keyPrefix]?.seq).toBe(inFolder?.[ledger.keyPrefix]?.seq);
  await own.end();
});

test('notes of ended and dead sessions are taken over, and those of live ones stay', async () => {
  const { journals, witness, notes } = await places();
  const ledger = ledgerOf();
  const [first, second] = [notes(SESSIONS[0]), notes(SESSIONS[1])];
  await first.sends(ledger, 9);
  await first.end();
  await second.sends(ledger, 4);
  await notes(SESSIONS[2]).sends(ledger, 5);
  for (const folder of [journals, witness]) {
    expect((await readdir(folder)).sort()).toEqual([`${SESSIONS[1]}.position`, `${SESSIONS[2]}.position`]);
    expect((await readPositions(folder))[ledger.keyPrefix]?.seq).toBe(9);
  }
  await notes('000000000004', witness, [SESSIONS[1], SESSIONS[2]]).sends(ledger, 6);
  expect(await readdir(journals)).toEqual(['000000000004.position']);
  expect((await readPositions(journals))[ledger.keyPrefix]?.seq).toBe(9);
});
