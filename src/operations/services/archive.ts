import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../core/errors/error.js';
import { allLedgers, notes, steering } from '../../ledger/index.js';
import { type App, archiveFolder } from '../../runtime/app.js';

/**
 * Finished batches leave the store after `retentionDays`: into the data folder of whoever serves, or of the
 * embedded store. One process at a time looks; that two did would be harmless, each step is conditional.
 */
type ArchivingLimits = {
  /** Rows to archive at most in this go: a command of a person must not take long. */
  readonly rowsMax: number;
  /** Nobody looks again for so long after somebody has; 0 looks now. */
  readonly everySeconds: number;
};

const DAY_MS = 24 * 3600_000;

/** Running totals of days that are older than two years leave for those of their months. */
async function foldDays(app: App): Promise<void> {
  for (const ledger of await allLedgers(app.scripts)) await steering.archives.foldOldDays(ledger);
}

async function archiveDue(app: App, limits: ArchivingLimits, stop?: AbortSignal): Promise<void> {
  const { everySeconds } = limits;
  if (everySeconds > 0 && !(await notes.turns.take(app.scripts, 'archiving', everySeconds * 1000))) return;
  await foldDays(app);
  const before = Date.now() - app.config.retentionDays * DAY_MS;
  let rowsLeft = limits.rowsMax;
  for (const ref of await steering.archives.due(app.scripts, before)) {
    if (stop?.aborted === true) break;
    const rows = await steering.archives.rowsOf(ref, before);
    if (rows === null || rows > rowsLeft) continue;
    try {
      const one = await steering.archives.write(ref, archiveFolder(app.config.dataFolder));
      if (one === undefined) continue;
      rowsLeft -= rows;
      app.logger.info({ batch: one.batch, rows: one.rows, file: one.path }, 'archived');
    } catch (error) {
      // A full disk must not keep anybody from paying; the batch stays where it is until the next go.
      app.logger.warn({ batch: ref.id, message: messageOf(error) }, 'a batch could not be archived');
    }
  }
}

function archiveQuietly(app: App, ...wish: [ArchivingLimits, AbortSignal?]): Promise<void> {
  return archiveDue(app, ...wish).catch((error: unknown) =>
    app.logger.warn({ message: messageOf(error) }, 'archiving failed'),
  );
}

/** In `serve`: again and again, a whole batch at a time. */
export async function startArchiving(app: App, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await archiveQuietly(app, { rowsMax: Number.POSITIVE_INFINITY, everySeconds: 60 }, stop);
    await sleep(60_000, undefined, { signal: stop }).catch(() => {});
  }
}

/** Where the store is the embedded one there may never be a `serve`: commands do a little of it each. */
export async function archiveInPassing(app: App): Promise<void> {
  if (app.config.redisUrl !== null) return;
  const everySeconds = app.config.retentionDays === 0 ? 0 : 3600;
  await archiveQuietly(app, { rowsMax: 200_000, everySeconds });
}
