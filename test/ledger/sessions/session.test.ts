import { describe, expect, test } from 'vitest';
import { localJournals } from '../../../src/ledger/journal/local-journals.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { forgetSession, listSessions, Session } from '../../../src/ledger/sessions/session.js';
import { ledgersOnRedis, sealed } from '../../support/ledgers-on-redis.js';
import { claimFor, feedAll, held } from '../../support/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';
import { tieUp } from '../../support/tie-up.js';

const bench = ledgersOnRedis();

describe('the register of sessions', () => {
  test('lists who is registered; a clean exit deregisters', async () => {
    const ledger = await bench.ledger();
    const session = await Session.open('worker', await tempFolder());
    await session.register(ledger);
    await session.register(ledger);
    expect(await listSessions(ledger)).toEqual([session.entry]);
    await session.deregister(ledger);
    expect(await listSessions(ledger)).toEqual([]);
    await session.close();
  });

  test('a living session that a rolled-back register forgot is put back, but not one that only looks on', async () => {
    const ledger = await bench.ledger();
    const folder = await tempFolder();
    const session = await Session.open('run', folder);
    const place = { id: '', journal: session.entry.journal };
    const forgotten = async () =>
      (await localJournals(ledger, place, { era: null, seq: 0 }, true)).forgotten.map(
        ({ entry }) => entry.id,
      );
    await session.register(ledger);
    await session.deregister(ledger);
    expect(await forgotten()).toEqual([]);
    // It works again, and the store forgets that.
    await session.register(ledger);
    expect(await forgotten()).toEqual([]);
    await ledger.scripts.redis.del(`${ledger.keyPrefix}:sessions`);
    expect(await forgotten()).toEqual([session.id]);
    await session.close();
  });

  test('forgetting a session makes its run stand still and lets go of the members it had claimed', async () => {
    const ledger = await bench.ledger();
    const run = await sealed(ledger, [{ member: '1' }, {}], { owner: 'run-1', id: 'run' });
    const other = await sealed(ledger, [{ member: '1' }], { id: 'other' });
    await feedAll(run);
    await feedAll(other);
    await held(run, 1);
    expect((await claimFor(other, 1)).answer).toBe('held');
    await forgetSession(ledger, 'run-1');
    expect(await readBatch(run.ref)).toMatchObject({
      state: 'paused',
      reason: { code: 'ALM_BATCH_INTERRUPTED' },
    });
    expect((await claimFor(other, 1)).answer).toBe('go');
    expect(await readBatch(other.ref)).toMatchObject({ state: 'running' });
    expect(await tieUp(ledger)).toEqual([]);
  });
});
