import { EventEmitter, once } from 'node:events';
import { readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { steering } from '../../../src/ledger/index.js';
import { batchKeys } from '../../../src/ledger/keys.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { archiveHash } from '../../../src/ledger/read/archive-file.js';
import { readAudit } from '../../../src/ledger/read/snapshot.js';
import { batchFacts, openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { ledgersOnRedis, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { audit, feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

/** After a lost store, the same file imported into a new one is the same batch, but has another archive. */
const bench = ledgersOnRedis();

test('an archive that replaced another is read again', async () => {
  const folder = await tempFolder();
  const { realm } = await bench.ledger();
  const said: string[][] = [];
  for (const word of ['before the loss', 'after it']) {
    const scripts = new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder });
    const batch = await sealed(openLedger(scripts, realm), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'P');
    await steering.batch.audit(batch.ref, audit(word));
    await archiveBatch(batch.ref, folder);
    said.push((await readAudit(batch.ref)).map(({ what }) => what));
    await bench.redis().client().flushall();
  }
  expect(said[0]).toContain('before the loss');
  expect(said[1]).toContain('after it');
});

async function paid(scripts: ScriptClient, realm: RealmLedger['realm']) {
  const batch = await sealed(openLedger(scripts, realm), [{}]);
  await feedAll(batch);
  await sendAs(batch, 1, 'P');
  return batch;
}

test('an archive that another store wrote is refused, and the one that the ledger names is found beside it', async () => {
  const folder = await tempFolder();
  const client = () => new ScriptClient(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder });
  const { realm } = await bench.ledger();
  const other = await paid(client(), realm);
  await steering.batch.audit(other.ref, audit('of the other store'));
  await archiveBatch(other.ref, folder);
  await bench.redis().client().flushall();
  const batch = await paid(client(), realm);
  const archived = await archiveBatch(batch.ref, folder);
  const path = archived?.path ?? '';
  // The other store’s file was kept: a former store may name it.
  const [kept = ''] = (await readdir(dirname(path))).filter((name) => name.includes('.before-'));
  await rename(path, join(folder, 'away'));
  await rename(join(dirname(path), kept), path);
  await expect(readAudit(batch.ref)).rejects.toMatchObject({
    code: 'ALM_LEDGER_ARCHIVE_DAMAGED',
    message: expect.stringContaining('another one than the ledger names'),
  });
  await rename(join(folder, 'away'), `${path}.before-now`);
  const said = (await readAudit(batch.ref)).map(({ what }) => what);
  expect(said).not.toContain('of the other store');
});

test('the archive that the ledger names stays when two processes archive one batch', async () => {
  const folder = await tempFolder();
  const [named, hasRead] = [new EventEmitter(), new EventEmitter()];
  const [isNamed, wasRead] = [once(named, 'now'), once(hasRead, 'now')];
  let late: Promise<unknown> = Promise.resolve();
  class Late extends ScriptClient {
    override async ask<T>(...args: Parameters<typeof ScriptClient.prototype.ask<T>>): Promise<T> {
      if (args[0] === 'read run') {
        hasRead.emit('now');
        await isNamed;
      }
      return super.ask(...args);
    }
  }
  class First extends ScriptClient {
    override async script(...args: Parameters<typeof ScriptClient.prototype.script>): Promise<unknown> {
      if (args[0] !== 'archive-batch') return super.script(...args);
      // This makes the second file differ.
      await this.redis.hset(batchKeys(batch.ledger.keyPrefix, batch.no).latency, '1', '1');
      late = archiveBatch({ ...batch.ref, ledger: { ...batch.ledger, scripts: lateScripts } }, folder);
      await wasRead;
      const answer = await super.script(...args);
      named.emit('now');
      await late;
      return answer;
    }
  }
  const of = (Kind: typeof ScriptClient) =>
    new Kind(bench.redis().client(), 10_000, () => {}, { archiveFolder: folder });
  const [scripts, lateScripts] = [of(First), of(Late)];
  const batch = await paid(scripts, (await bench.ledger()).realm);
  const archived = await archiveBatch(batch.ref, folder);
  const [sha256] = await batchFacts(batch.ref, 'archive');
  expect(await archiveHash(archived?.path ?? '')).toBe(sha256);
  expect(await readdir(dirname(archived?.path ?? ''))).toHaveLength(1);
});
