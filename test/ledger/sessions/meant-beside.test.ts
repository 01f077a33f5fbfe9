import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Here } from '../../../src/ledger/here/liveness.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { acceptNewLedger } from '../../../src/ledger/sessions/fence.js';
import { ledgersElsewhere } from '../../../src/ledger/sessions/folder-check.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();

test('--new-ledger covers the folders that the person saw, and no other that has paid since', async () => {
  const state = await tempFolder();
  const here = new Here(null, undefined, state, false);
  const scripts = new ScriptClient(bench.redis().client(), 1_000, () => {}, { here: here });
  const realm = { name: 'town', baseUrl: 'http://town', realmId: 'town' };
  const ledger = openLedger(scripts, { ...realm, rehearsal: false });
  const paidFrom = async (number: string, folder: string) => {
    await mkdir(join(state, number));
    const positions = { [ledger.keyPrefix]: { realm, era: 'e', seq: 9, at: 1 } };
    const note = JSON.stringify({ folder, ended: true, positions });
    await writeFile(join(state, number, '000000000001.position'), note);
  };
  const elsewhere = async () => (await ledgersElsewhere(ledger)).map(({ folder }) => folder);
  await paidFrom('a', '/a');
  expect(await elsewhere()).toEqual(['/a']);
  await acceptNewLedger(ledger, ['/a'], { who: 'ada', at: 5 });
  expect(await elsewhere()).toEqual([]);
  await paidFrom('b', '/b');
  expect(await elsewhere()).toEqual(['/b']);
});
