import { expect, onTestFinished, test } from 'vitest';
import { resumeBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { openLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { realmWorker } from '../../src/queue/worker.js';
import { createRealmClient } from '../../src/realm/client/client.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { WHY } from '../support/ledger/order-moves.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { DeafRealm } from '../support/program/deaf-realm.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const bench = ledgersOnRedis();

/** As `almoner run --first 3` does, while the store is rolled back in the middle of the run. */
test.each(['before the run took the batch', 'when the run had just begun'])(
  'run --first N pays N, also where the store comes back as it was %s',
  async (moment) => {
    const shared = await bench.ledger();
    const { baseUrl, realmId } = shared.realm;
    const realm = await DeafRealm.start((before) => (before === 1 ? 'hang' : 200));
    const rows = Array.from({ length: 12 }, () => ({}));
    const batch = await sealed(shared, rows, { manifest: { certainty: 'idempotent', mode: 'run' } });
    const profile = testProfile({
      baseUrl,
      realmId,
      certainty: 'idempotent',
      timeouts: { connectMs: 1_000, tlsMs: 1_000, responseMs: 500, totalMs: 500 },
      attempts: { max: 3, backoffMs: 100, backoffMaxMs: 100 },
    });
    const ledger = openLedger(
      new ScriptClient(bench.redis().client(), 10_000, () => {}),
      shared.realm,
      shared.asked,
    );
    const session = await Session.open('run', await tempFolder());
    const first = { orders: 3, reason: WHY };
    const early = await photograph(shared);
    await session.register(ledger, { settleMs: 1_000, timeouts: { totalMs: 1_000 } });
    await resumeBatch(batch.ref, null, { owner: session.id, first });
    const late = await photograph(shared);
    const client = createRealmClient({
      profile,
      baseUrl: realm.url,
      readKey: () => 'key',
    });
    const crew = realmWorker({
      ledger,
      profile,
      client,
      session,
      run: { ...batch.ref, ledger },
      first,
      concurrency: 1,
      connect: () => bench.redis().client(),
      onTrouble: () => {},
    });
    onTestFinished(async () => {
      await crew.stop();
      await client.close();
      await session.close();
    });
    await crew.start();
    await until('two are asked for', () => realm.asked.length === 2, 20_000);
    await (moment.startsWith('before') ? early : late)();
    const isStill = async () => {
      const view = await readBatch(batch.ref);
      return view?.state === 'paused' || view?.state === 'done' ? view : undefined;
    };
    const end = await until('the run to stand still', isStill, 30_000);
    expect(end).toMatchObject({ state: 'paused', reason: WHY, counts: { paid: 3, planned: 9 } });
    expect(realm.applied).toHaveLength(3);
    expect(await tieUp(shared)).toEqual([]);
  },
);
