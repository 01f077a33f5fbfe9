import { resolve } from 'node:path';
import { type RealmLedger, storeNowMs } from '../../ledger/index.js';
import {
  isGoOfTwo,
  type LastRun,
  lastRuns,
  type Said,
  type ScheduledRule,
  scheduledRules,
} from '../../rules/approvals.js';
import type { RuleFault } from '../../rules/fault.js';
import type { RunMeta } from '../../rules/run-record.js';
import { listRuns } from '../../rules/run-store.js';
import type { Schedule } from '../../rules/schedule.js';
import type { ScheduleStanding } from '../../rules/standing.js';
import type { App } from '../../runtime/app.js';
import { isRequired, requirementOf } from '../people/who.js';
import { type BeforeGo, beforeGo, type NextRun, nextRuns, ruleWords } from './before-go.js';
import { findRules, profileOrNull } from './files.js';
import { scheduleStandings } from './standings.js';
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
  /** When it runs next; null while it would not. */
  readonly next: number | null;
  /** The times of its schedule from now on with their periods, whether it is approved or not. */
  readonly nextRuns: readonly NextRun[];
  /** What it pays, to whom and how much at most, in words. */
  readonly words: readonly string[];
  readonly approved: ScheduledRule['approved'];
  /** Who wants this very text to have its go, while a second person has not said it. */
  readonly asked: Said | null;
  /** The realm requires a second person for its go. */
  readonly needsSecond: boolean;
  /** What became of the last time of its schedule; null where the store knows none. */
  readonly standing: ScheduleStanding | null;
  /** What a go would be for; only where one is missing, or is not that of two people where that is required. */
  readonly beforeGo: BeforeGo | null;
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
      return { profile, ledger, entries, last, runs, now, needsSecond: isRequired(requirementOf(profile)) };
    }),
  );
  const standings = await scheduleStandings(app);
  const standingOf = (realm: string | undefined, rule: string) =>
    standings.find((one) => one.realm === realm && one.rule === rule) ?? null;
  const listed: ListedRule[] = [];
  for (const { file, result } of await findRules(app.config, cwd)) {
    if ('faults' in result) {
      const { name, faults } = result;
      // A file that cannot be read has no name; the store knows whose it was.
      const entry = realms.flatMap(({ entries }) => entries).find((one) => one.file === resolve(cwd, file));
      const rule = name ?? entry?.rule ?? file;
      const standing = standings.find((one) => one.rule === rule) ?? null;
      listed.push({ ...BLANK, rule, realm: null, file, state: 'faulty', faults, standing });
      continue;
    }
    const { rule, audience } = result;
    const profile = profileOrNull(app.config, rule);
    const realm = realms.find((one) => one.profile === profile);
    const entry = realm?.entries.find((one) => one.rule === rule.name);
    const state = rule.schedule === null ? 'manual' : stateOf(entry, rule.hash);
    const last = realm?.last.get(rule.name) ?? null;
    const standing = standingOf(profile?.name, rule.name);
    const isWaiting = state === 'waits' || state === 'changed' || state === 'unsynced';
    const lacksTwo =
      state === 'approved' &&
      realm?.needsSecond === true &&
      !isGoOfTwo(entry?.approved ?? null, audience.hash);
    const shown =
      (isWaiting || lacksTwo) && realm !== undefined ? await beforeGo(result, realm.ledger) : null;
    listed.push({
      ...BLANK,
      rule: rule.name,
      realm: profile?.name ?? rule.realm,
      file,
      reason: rule.reason,
      schedule: rule.schedule,
      state,
      next: state === 'approved' ? (standing?.nextAt ?? null) : null,
      nextRuns:
        rule.schedule === null ? [] : nextRuns(rule, rule.schedule, Math.max(realm?.now ?? 0, last?.at ?? 0)),
      words: ruleWords(rule, audience.members),
      approved: entry?.hash === rule.hash ? entry.approved : null,
      // Asked for with other members, it is not asked for as it is now.
      asked: shown !== null && entry?.asked?.hash === shown.text.hash ? entry.asked : null,
      needsSecond: realm?.needsSecond ?? false,
      standing,
      beforeGo: shown,
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
        standing: standingOf(profile.name, rule),
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
  nextRuns: [],
  words: [],
  approved: null,
  asked: null,
  needsSecond: false,
  standing: null,
  beforeGo: null,
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
