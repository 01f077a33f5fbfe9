import type { RealmProfile } from '../../core/profile.js';
import { OUTCOMES } from '../../core/schedule-outcomes.js';
import { type RealmLedger, recovery, storeNowMs } from '../../ledger/index.js';
import { type LastRun, lastRuns, roundNotes, scheduledRules, waitingRuns } from '../../rules/approvals.js';
import { periodName } from '../../rules/calendar.js';
import { listRuns } from '../../rules/run-store.js';
import { type ScheduleFacts, type ScheduleHealth, scheduleHealthOf } from '../../rules/schedule-health.js';
import { PERIODS } from '../../rules/schema.js';
import type { App } from '../../runtime/app.js';
import type { ScheduleRow } from '../views/rule.js';
import { shown } from '../views/shown.js';
import { batchOf } from './unfinished-runs.js';

/** How every schedule of every configured realm stands: what lists, pages, metrics and notices tell. */
export async function scheduleStandings(app: App, now?: number): Promise<ScheduleHealth[]> {
  const all = await Promise.all(app.config.profiles.map((profile) => standingsOf(app, profile, now)));
  return all.flat();
}

async function standingsOf(app: App, profile: RealmProfile, given?: number): Promise<ScheduleHealth[]> {
  const ledger = app.ledger(profile);
  const entries = await scheduledRules(ledger);
  if (entries.length === 0) return [];
  const [last, waiting, rounds, workers, now] = await Promise.all([
    lastRuns(ledger),
    waitingRuns(ledger),
    roundNotes(ledger).all(),
    recovery.sessions.workersAtWork(ledger),
    given ?? storeNowMs(ledger),
  ]);
  const standings: ScheduleHealth[] = [];
  for (const entry of entries) {
    const common = {
      realm: profile.name,
      entry,
      waiting: waiting.get(entry.rule) ?? null,
      lookedAt: rounds.get('looked') ?? null,
      now,
    };
    const tell = async (one: LastRun | null) =>
      scheduleHealthOf({
        ...common,
        last: one,
        batch: await batchFacts(ledger, one?.batch ?? null, workers.length > 0),
      });
    const noted = last.get(entry.rule) ?? null;
    const standing = await tell(noted);
    const isLasting = !standing.isGood && noted?.at === standing.at;
    const made = isLasting ? await madeUpFor(ledger, entry.rule, entry.timezone, noted) : null;
    standings.push(made === null ? standing : await tell(made));
  }
  return standings;
}

/** A time without its payment is made up for by a later run of the same period, by hand. */
async function madeUpFor(
  ledger: RealmLedger,
  rule: string,
  zone: string,
  last: LastRun,
): Promise<LastRun | null> {
  const periods = PERIODS.map((period) => periodName(period, last.at, zone));
  const made = (await listRuns(ledger)).findLast(
    (run) =>
      run.rule === rule &&
      run.state === 'run' &&
      run.startedAt > last.finishedAt &&
      periods.includes(run.period),
  );
  if (made === undefined) return null;
  return {
    ...last,
    result: 'enqueued',
    run: made.id,
    batch: made.batch,
    message: null,
    finishedAt: made.startedAt,
  };
}

async function batchFacts(
  ledger: RealmLedger,
  batch: string | null,
  hasWorker: boolean,
): Promise<ScheduleFacts['batch']> {
  const view = await batchOf(ledger, { batch });
  if (view === undefined) return null;
  const { state, counts, manifest } = view;
  const { rows, mode } = manifest;
  const unpaid = rows - (counts.paid ?? 0) - (counts.duplicate ?? 0);
  return { state, rows, unpaid, hasSender: hasWorker || mode === 'run' };
}

/** What is told while the store does not answer: of what was last known, nothing is known to be so. */
export function withoutStore(standings: readonly ScheduleHealth[], since: number): ScheduleHealth[] {
  return standings.map((known) => ({
    ...known,
    key: [known.realm, known.rule, since, 'store-away'].join('/'),
    outcome: 'store-away',
    isGood: false,
    message: 'The store does not answer: no time is run, and what became of the last one is not known.',
    next: OUTCOMES['store-away'],
    since,
  }));
}

/** The same as every face shows it. */
export function scheduleRow(standing: ScheduleHealth): ScheduleRow {
  return shown(standing, ['at', 'since', 'nextAt', 'time']);
}
