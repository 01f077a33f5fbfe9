import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Here } from '../../../src/ledger/here/liveness.js';
import { readPlace, thisMachine } from '../../../src/ledger/here/place.js';
import { openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { localJournals } from '../../../src/ledger/sessions/local-journals.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import { journalIntent } from '../../support/ledger/journal-lines.js';
import { ledgersOnRedis } from '../../support/ledger/ledgers-on-redis.js';
import { tempFolder } from '../../support/temp-folder.js';

const bench = ledgersOnRedis();

/** A session that has sent one order, at sequence 7 of the ledger. */
async function sender(ledger: RealmLedger, folder: string): Promise<Session> {
  const session = await Session.open('worker', folder);
  onTestFinished(() => session.close());
  await session.register(ledger);
  await session.journal.intent({ ...journalIntent(1), realm: ledger.keyPrefix, seq: 7 });
  return session;
}

/** The ledger as a process on another machine sees it, with a copy of the folder. */
async function copied(ledger: RealmLedger, folder: string) {
  const copy = join(await tempFolder(), 'copy');
  await promisify(execFile)('cp', ['-a', folder, copy]);
  const placeAt = async (at: string) => (at === copy ? readPlace(at) : undefined);
  const machine = { ...(await thisMachine()), boot: 'another', space: 'another', placeAt };
  const here = new Here(copy, Promise.resolve(machine));
  const scripts = new ScriptClient(ledger.scripts.redis, 10_000, () => {}, { here: here });
  const seen = openLedger(scripts, ledger.realm);
  return async () => {
    const place = { id: '', journal: join(copy, 'journal') };
    const { ended, forgotten } = await localJournals(seen, place, null, 'every journal');
    return {
      ended: ended.map(({ head }) => head.session),
      forgotten: forgotten.map(({ entry }) => entry.id),
    };
  };
}

describe('journals in a copied folder', () => {
  test('prove nothing about a session that may live at their origin', async () => {
    const ledger = await bench.ledger();
    const folder = await tempFolder();
    await sender(ledger, folder);
    const look = await copied(ledger, folder);
    expect(await look()).toEqual({ ended: [], forgotten: [] });
  });

  test('name the session once a rolled-back store knows less than they do', async () => {
    const ledger = await bench.ledger();
    const folder = await tempFolder();
    const { id } = await sender(ledger, folder);
    const look = await copied(ledger, folder);
    await ledger.scripts.redis.hdel(`${ledger.keyPrefix}:sessions`, id);
    expect(await look()).toEqual({ ended: [], forgotten: [id] });
    // Journals merged by others raise the sequence, but do not show that this journal’s attempts are known.
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'seq', 7);
    expect(await look()).toEqual({ ended: [], forgotten: [id] });
  });

  test('are merged if they record that the session ended in order', async () => {
    const ledger = await bench.ledger();
    const folder = await tempFolder();
    const session = await sender(ledger, folder);
    await session.close();
    await ledger.scripts.redis.hdel(`${ledger.keyPrefix}:sessions`, session.id);
    expect(await (await copied(ledger, folder))()).toEqual({ ended: [session.id], forgotten: [] });
  });
});
