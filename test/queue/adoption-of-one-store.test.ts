import { expect, test } from 'vitest';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { listSessions } from '../../src/ledger/read/session-list.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { type RecoveryDeps, recover } from '../../src/ledger/sessions/recovery.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { Machines } from '../support/machines/machines.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();

/** The store is replaced by another one when its first row is read. */
class RestoringReader extends PlanReader {
  private restored = false;

  constructor(
    ledger: RealmLedger,
    private readonly restore: () => Promise<void>,
  ) {
    super(ledger);
  }

  override async rowOf(...asked: Parameters<PlanReader['rowOf']>) {
    const row = await super.rowOf(...asked);
    if (!this.restored) await this.restore();
    this.restored = true;
    return row;
  }
}

test('a store restored during the adoption of dead sessions: facts read before do not decide orders afterwards', async () => {
  const batch = await sealed(await bench.ledger(), [{}, {}, {}]);
  await feedAll(batch);
  const machines = new Machines(bench.redis(), batch, 'idempotent');
  const [one, three] = [await tempFolder(), await tempFolder()];
  const dead = await machines.start(one);
  expect(await dead.sender.recover()).toBe(true);
  await dead.sender.begin(1);
  const restore = await photograph(batch.ledger); // order 1 is being sent by it
  await dead.sender.finish('paid');
  await dead.sender.begin(2);
  await dead.sender.die(); // its journal knows: 1 paid, 2 was about to be sent

  // `almoner recover` runs on its machine. The store fails over to the earlier moment while it merges journals.
  const ledger = openLedger(new ScriptClient(bench.redis().client(), 10_000, () => {}), batch.ledger.realm);
  const session = await Session.open('recover', one);
  await session.register(ledger);
  const parts: RecoveryDeps = {
    ledger,
    context: {
      ledger,
      plans: new RestoringReader(ledger, restore),
      termsOf: async () => ({ certainty: 'idempotent', currency: null, keyLifetimeMs: 60_000 }),
    },
    self: {
      session,
      attempts: { merging: () => Promise.resolve(), sending: () => new Set<string>(), has: () => false },
    },
    forget: () => {},
    retakeRun: () => Promise.resolve(),
    onDoubt: () => Promise.resolve(),
    say: () => {},
  };
  await recover(parts, 'every journal');
  expect((await readRecord(batch.ref, 1)).code).toBe('s');
  await session.deregister(ledger);
  await session.close();
  expect(await listSessions(batch.ledger)).toHaveLength(1);
  // The next process to look finds the journal and its attempts.
  const next = await machines.start(three);
  expect(await next.sender.recover()).toBe(true);
  expect((await readRecord(batch.ref, 1)).code).toBe('P');
  await next.sender.die();
});
