import { type RealmLedger, storeNowMs } from '../../ledger/index.js';
import { type LastRun, lastRuns, type ScheduledRule, scheduledRules } from '../../rules/approvals.js';
import type { RuleFault } from '../../rules/fault.js';
import type { RunMeta } from '../../rules/run-record.js';
import { listRuns } from '../../rules/run-store.js';
import { nextTime, type Schedule } from '../../rules/schedule.js';
import type { App } from '../../runtime/app.js';
import { findRules, profileOrNull } from './files.js';
import { batchOf } from './unfinished-runs.js';

export type ListedRule = {
  readonly rule: string;
  readonly realm: string | null;
  readonly file: string;
  /** What stands beside each of its orders; null where its file is gone or faulty. */
  readonly reason: string | null;
  readonly schedule: Schedule | null;
  /** `manual` has no schedule; `waits` and `changed` need a person's go; `gone` has no file any more. */
  readonly state: 'manual' | 'approved' | 'waits' | 'changed' | 'unsynced' | 'gone' | 'faulty';
  readonly next: number | null;
  /** The last time the schedule came, and what became of it. */
  readonly lastScheduled: LastRun | null;
  /** The last run of the rule, by schedule or by hand, and how its batch stands. */
  readonly lastRun:
    | (Pick<RunMeta, 'period' | 'at' | 'batch' | 'awards' | 'tokens'> & { run: string; state: string })
    | null;
  readonly faults: readonly RuleFault[];
};

/** All rules, in the files and in the store, with their next and last runs. */
export async function listRules(app: App, cwd: string): Promise<ListedRule[]> {
  const realms = await Promise.all(
    app.config.profiles.map(async (profile) => {
      const ledger = app.ledger(profile);
      const [entries, last, runs, now] = await Promise.all([
        scheduledRules(ledger),
        lastRuns(ledger),
        listRuns(ledger),
        storeNowMs(ledger),
      ]);
      return { profile, ledger, entries, last, runs, now };
    }),
  );
  const listed: ListedRule[] = [];
  for (const { file, result } of await findRules(app.config, cwd)) {
    if ('faults' in result) {
      const { name, faults } = result;
      listed.push({ ...BLANK, rule: name ?? file, realm: null, file, state: 'faulty', faults });
      continue;
    }
    const { rule } = result;
    const profile = profileOrNull(app.config, rule);
    const realm = realms.find((one) => one.profile === profile);
    const entry = realm?.entries.find((one) => one.rule === rule.name);
    const state = rule.schedule === null ? 'manual' : stateOf(entry, rule.hash);
    const last = realm?.last.get(rule.name) ?? null;
    listed.push({
      ...BLANK,
      rule: rule.name,
      realm: profile?.name ?? rule.realm,
      file,
      reason: rule.reason,
      schedule: rule.schedule,
      state,
      next:
        realm === undefined || rule.schedule === null || state !== 'approved'
          ? null
          : nextTime(rule.schedule, Math.max(realm.now, last?.at ?? 0)),
      lastScheduled: last,
      lastRun: realm === undefined ? null : await newestRun(realm.ledger, realm.runs, rule.name),
    });
  }
  for (const { profile, ledger, entries, last, runs } of realms)
    for (const entry of entries) {
      if (
        listed.some(
          ({ rule, realm, state }) => rule === entry.rule && (realm === profile.name || state === 'faulty'),
        )
      )
        continue;
      const { rule, file, cron, timezone, missed } = entry;
      listed.push({
        ...BLANK,
        rule,
        realm: profile.name,
        file,
        schedule: { cron, timezone, missed },
        state: 'gone',
        lastScheduled: last.get(rule) ?? null,
        lastRun: await newestRun(ledger, runs, rule),
      });
    }
  return listed;
}

const BLANK = {
  reason: null,
  schedule: null,
  next: null,
  lastScheduled: null,
  lastRun: null,
  faults: [],
} as const;

function stateOf(entry: ScheduledRule | undefined, hash: string): ListedRule['state'] {
  if (entry === undefined) return 'unsynced';
  if (entry.hash !== hash) return 'changed';
  return entry.approved === null ? 'waits' : 'approved';
}

async function newestRun(
  ledger: RealmLedger,
  runs: readonly RunMeta[],
  rule: string,
): Promise<ListedRule['lastRun']> {
  const run = runs.findLast((one) => one.rule === rule && (one.state === 'run' || one.batch !== null));
  if (run === undefined) return null;
  const { id, period, at, batch, awards, tokens } = run;
  const view = await batchOf(ledger, run);
  return { run: id, period, at, batch, state: view?.state ?? run.state, awards, tokens };
}
