import { join } from 'node:path';
import type { RealmProfile } from '../../core/profile.js';
import { lists, type RealmLedger, reading, recovery, registerRealm } from '../../ledger/index.js';
import { KnownBatches } from '../../queue/batches.js';
import type { App } from '../../runtime/app.js';

/** Recovery by commands and services that send nothing themselves; a sender watches for itself (queue/worker.ts). */

/**
 * Before anything is judged by the ledger that may be paid then. Answers whether orders may be sent. `enter`: the caller
 * stands in the registry, at every look, because each may find another store.
 */
export async function openForJudging(
  app: App,
  profile: RealmProfile,
  enter: () => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  const ledger = app.ledger(profile);
  const opening = app.openingOf(ledger);
  await enter();
  if (await opening.isOpen(ledger)) return true;
  const opened = await opening.share(app.scripts.patienceMs, enter, async (before) => {
    const found = await recovering(app, profile, ({ watch }) => watch.untilOpen(before));
    return found === null || found.outcome === 'open';
  });
  return opened || opening.isOpen(ledger);
}

type Recovering = {
  readonly ledger: RealmLedger;
  readonly context: recovery.MergeContext;
  readonly watch: recovery.RecoveryWatch;
  /** The session that recovers. */
  readonly session: string;
  /** Recovers what lies here; answers how many orders were put right. */
  readonly now: () => Promise<recovery.Recovered>;
};

/**
 * In a session of its own, which opening waits for. Null where there was nothing to do, as on a machine that never sent
 * anything and a new ledger.
 */
export async function recovering<T>(
  app: App,
  profile: RealmProfile,
  work: (recovering: Recovering) => Promise<T>,
): Promise<T | null> {
  const { config, scripts } = app;
  const ledger = app.ledger(profile);
  const { sessions } = await journalsHere(config.dataFolder);
  if (sessions === 0 && (await recovery.fence.read(ledger)).untouched) return null;
  const session = await recovery.Session.open('recover', config.dataFolder, {
    here: scripts.here,
    ephemeral: config.ephemeral,
  });
  const context = contextOf(ledger, profile);
  let overdue = 0;
  const watch = new recovery.RecoveryWatch({
    ledger,
    context,
    self: { session, attempts: NOTHING_SENT },
    patienceMs: config.limits.mergePatienceMs,
    forget: () => {},
    retakeRun: () => Promise.resolve(),
    onDoubt: () => Promise.resolve(),
    onTrouble: (message) => {
      if (app.openingOf(ledger).isNews(message)) app.logger.warn({ message }, 'recovery');
    },
    onLost: (error) => {
      throw error;
    },
    onRecovered: async () => {
      const fence = await recovery.fence.read(ledger);
      if (!fence.armed || fence.era !== ledger.mark.era) return;
      app.openingOf(ledger).opened(fence);
      // A process that lives may have an answer in its journal that the store did not take from it.
      overdue += await recovery.settleOverdue({ ledger, context }, session.id);
    },
  });
  const now = async () => {
    overdue = 0;
    const found = await watch.now();
    return { ...found, moved: found.moved + overdue };
  };
  try {
    const done = await work({ ledger, context, watch, now, session: session.id });
    await session.deregister(ledger);
    // A store that has forgotten everything has forgotten the realm as well; what was recovered of it is to be seen.
    if ((await lists.countBatches(ledger)).batches > 0) await registerRealm(ledger);
    return done;
  } catch (error) {
    // Opening would wait for it until it is proven dead; where the store is away, that is all there is.
    await session.deregister(ledger).catch(() => {});
    throw error;
  } finally {
    await session.close();
  }
}

export function contextOf(ledger: RealmLedger, profile: RealmProfile): recovery.MergeContext {
  const batches = new KnownBatches(ledger, profile);
  return { ledger, plans: new reading.PlanReader(ledger), termsOf: (no) => batches.termsOf(no) };
}

const NOTHING_SENT = {
  merging: () => Promise.resolve(),
  sending: () => new Set<string>(),
  has: () => false,
};

export async function journalsHere(dataFolder: string) {
  const folder = join(dataFolder, recovery.journals.folder);
  const found = await recovery.journals.list(folder);
  const written = found.flatMap(({ files }) => files.map(({ writtenMs }) => writtenMs));
  return {
    folder,
    sessions: found.length,
    bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
    /** When the oldest file was written last; null where there is none. */
    oldestMs: written.length === 0 ? null : Math.min(...written),
  };
}
