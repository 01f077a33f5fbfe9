import { expect, test } from 'vitest';
import { writeAudit } from '../../../src/ledger/index.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import { openLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

/** The same file imported into a store that came after a lost one is the same batch, and its archive another one. */
const bench = ledgersOnRedis();

test('an archive that took the place of another is read anew', async () => {
  const folder = await tempFolder();
  const { realm } = await bench.ledger();
  const said: string[][] = [];
  for (const word of ['before the loss', 'after it']) {
    const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {}, folder);
    const batch = await sealed(openLedger(scripts, realm), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await writeAudit(batch.ref, audit(word));
    await archiveBatch(batch.ref, folder);
    said.push((await readAudit(batch.ref)).map(({ what }) => what));
    await bench.redis().client().flushall();
  }
  expect(said[0]).toContain('before the loss');
  expect(said[1]).toContain('after it');
});
