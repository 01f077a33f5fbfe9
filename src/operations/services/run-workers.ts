import { once } from 'node:events';
import { batchId } from '../../core/ids.js';
import { allLedgers, recovery, registerRealm, sending } from '../../ledger/index.js';
import { quietly, Rounds } from '../../queue/rounds.js';
import type { App, RealmContext } from '../../runtime/app.js';
import { counted } from '../../words/spelling.js';
import { reportEnded } from '../batches/report.js';
import { waitingOf } from '../batches/waiting.js';

/** The imported batches of every configured realm, each at its own pace, until stopped. */
export async function workRealms(
  app: App,
  options: {
    concurrency: number;
    stop: AbortSignal;
    onReady: () => void;
    /** How often the worker looks for ended batches without a report. */
    reportEveryMs?: number | undefined;
  },
): Promise<void> {
  // Loaded by who works, not by who counts the workers.
  const { realmWorker } = await import('../../queue/worker.js');
  const session = await app.session('worker');
  const workers: { stop(): Promise<void> }[] = [];
  const realms: RealmContext[] = [];
  for (const profile of app.config.profiles) {
    const realm = await app.realm(profile);
    await registerRealm(realm.ledger);
    const worker = realmWorker({
      ledger: realm.ledger,
      profile,
      client: realm.client,
      session,
      run: null,
      concurrency: options.concurrency,
      connect: (use) => app.store.connect(use),
      onStalled: (error) => app.fail(error),
      limits: app.config.limits,
      onTrouble: (message) => app.logger.warn({ realm: profile.name, message }, 'trouble'),
    });
    await worker.start();
    workers.push(worker);
    realms.push(realm);
  }
  // A worker whose orders stand still says for what, and says it again now and then.
  const rounds = new Rounds((message) => app.logger.warn({ message }, 'trouble'));
  const say = quietly((message) => app.logger.warn({ message }, 'orders wait'), SAY_AGAIN_MS);
  rounds.every(LOOK_MS, 'look at what waits', () => tellWaiting(app, say));
  const complain = quietly((message) => app.logger.error({ message }, 'no report'), SAY_AGAIN_MS);
  for (const books of realms)
    rounds.every(options.reportEveryMs ?? REPORT_MS, 'write reports', () =>
      reportEnded(app, books, complain),
    );
  options.onReady();
  const stop = AbortSignal.any([options.stop, app.failed]);
  if (!stop.aborted) await once(stop, 'abort');
  await rounds.stop();
  const stopped = await Promise.allSettled(workers.map((worker) => worker.stop()));
  for (const one of stopped) if (one.status === 'rejected') throw one.reason;
  app.failed.throwIfAborted();
}

const LOOK_MS = 5_000;
const REPORT_MS = 2_000;
const SAY_AGAIN_MS = 60_000;

async function tellWaiting(app: App, say: (message: string) => void): Promise<void> {
  const { profiles } = app.config;
  for (const ledger of await allLedgers(app.scripts)) {
    const { realm } = ledger;
    // Also what was confirmed for another address of the same realm: nobody else would say that it stands still.
    if (!profiles.some(({ name, realmId }) => name === realm.name || realmId === realm.realmId)) continue;
    for (const { no, id } of await sending.deliveries.open(ledger))
      for (const { why, orders, message } of await waitingOf({ ledger, no, id: batchId(id) }, app.config))
        if (why !== 'doubt')
          say(`${why} in batch ${id}: ${counted(orders, 'order waits', 'orders wait')}. ${message}`);
  }
}

/** Worker processes that are neither dead nor silent, over all realms of the store. */
export async function countWorkers(app: App): Promise<number> {
  const all = await allLedgers(app.scripts);
  return new Set((await Promise.all(all.map(recovery.sessions.workersAtWork))).flat()).size;
}
