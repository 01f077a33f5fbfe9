import { resolve } from 'node:path';
import type { RealmProfile } from '../../core/profile.js';
import { type RealmLedger, storeNowMs } from '../../ledger/index.js';
import {
  isApprovedByTwo,
  type LastRun,
  lastRuns,
  type ScheduledRule,
  scheduledRules,
} from '../../rules/approvals.js';
import type { RuleFault } from '../../rules/fault.js';
import type { RuleHead } from '../../rules/rule-jobs.js';
import type { RunMeta } from '../../rules/run-record.js';
import { listRuns } from '../../rules/run-store.js';
import type { Schedule } from '../../rules/schedule.js';
import type { ScheduleHealth } from '../../rules/schedule-health.js';
import type { App } from '../../runtime/app.js';
import { isRequired, requirementOf } from '../people/who.js';
import type { Rule } from '../views/rule.js';
import type { Raw } from '../views/shown.js';
import { beforeGo, nextRuns, ruleWords } from './before-go.js';
import { findRules, profileOrNull } from './files.js';
import { scheduleStandings } from './standings.js';
import { batchOf } from './unfinished-runs.js';

/** A rule as its file and the store have it. */
export type ListedRule = Omit<Raw<Rule, 'at'>, 'approved' | 'standing'> & {
  readonly realm: string | null;
  readonly file: string;
  readonly schedule: Schedule | null;
  /** `manual` has no schedule; `waits` and `changed` need a person's approval; `gone` has no file any more. */
  readonly state: 'manual' | 'approved' | 'waits' | 'changed' | 'unsynced' | 'gone' | 'faulty';
  readonly approved: ScheduledRule['approved'];
  readonly standing: ScheduleHealth | null;
  /** When it runs next; null while it would not. */
  readonly next: number | null;
  /** The last time the schedule came, and what became of it. */
  readonly lastScheduled: LastRun | null;
  /** The last run of the rule, by schedule or by hand, and the state of its batch. */
  readonly lastRun:
    | (Pick<RunMeta, 'period' | 'at' | 'batch' | 'awards' | 'tokens'> & { run: string; state: string })
    | null;
  readonly faults: readonly RuleFault[];
};

/** All rules, in the files and in the store, with their next and last runs. */
export async function listRules(app: App, cwd: string): Promise<ListedRule[]> {
  const realms = await Promise.all(app.config.profiles.map((profile) => realmOf(app, profile)));
  const standings = await scheduleStandings(app);
  const listed: ListedRule[] = [];
  for (const { file, result } of await findRules(app.config, cwd))
    if ('faults' in result) {
      // A file that cannot be read has no name; the store knows whose it was.
      const entry = realms.flatMap(({ entries }) => entries).find((one) => one.file === resolve(cwd, file));
      const rule = result.name ?? entry?.rule ?? file;
      const standing = standings.find((one) => one.rule === rule) ?? null;
      const { faults } = result;
      listed.push({ ...BLANK, rule, realm: null, file, state: 'faulty', faults, standing });
    } else {
      const profile = profileOrNull(app.config, result.rule);
      const realm = realms.find((one) => one.profile === profile);
      const standing = standingIn(standings, profile?.name, result.rule.name);
      const listedRule = await readRule(file, result, realm, standing);
      listed.push({ ...listedRule, realm: profile?.name ?? result.rule.realm });
    }
  for (const realm of realms)
    for (const entry of realm.entries) {
      const { name } = realm.profile;
      const isListed = listed.some(
        ({ rule, realm: of, state }) => rule === entry.rule && (of === name || state === 'faulty'),
      );
      if (!isListed) listed.push(await goneRule(entry, realm, standingIn(standings, name, entry.rule)));
    }
  return listed;
}

type RealmRules = Awaited<ReturnType<typeof realmOf>>;

async function realmOf(app: App, profile: RealmProfile) {
  const ledger = app.ledger(profile);
  const [entries, last, runs, now] = await Promise.all([
    scheduledRules(ledger),
    lastRuns(ledger),
    listRuns(ledger),
    storeNowMs(ledger),
  ]);
  return { profile, ledger, entries, last, runs, now, needsSecond: isRequired(requirementOf(profile)) };
}

function standingIn(standings: readonly ScheduleHealth[], realm: string | undefined, rule: string) {
  return standings.find((one) => one.realm === realm && one.rule === rule) ?? null;
}

type ReadableRule = Exclude<RuleHead, { readonly faults: unknown }>;

/** A rule whose file was read; `realm` is undefined where no profile has it. */
async function readRule(
  file: string,
  loaded: ReadableRule,
  realm: RealmRules | undefined,
  standing: ScheduleHealth | null,
): Promise<ListedRule> {
  const { rule, audience } = loaded;
  const entry = realm?.entries.find((one) => one.rule === rule.name);
  const state = rule.schedule === null ? 'manual' : stateOf(entry, rule.hash);
  const last = realm?.last.get(rule.name) ?? null;
  const shown =
    realm !== undefined && lacksGo(state, realm, entry, audience.hash)
      ? await beforeGo(loaded, realm.ledger)
      : null;
  return {
    ...BLANK,
    rule: rule.name,
    realm: rule.realm,
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
    asked: shown !== null && entry?.asked?.hash === shown.hash ? entry.asked : null,
    needsSecond: realm?.needsSecond ?? false,
    standing,
    text: shown,
    lastScheduled: last,
    lastRun: realm === undefined ? null : await newestRun(realm.ledger, realm.runs, rule.name),
  };
}

/** Whether a person has to be shown what they would approve. */
function lacksGo(
  state: ListedRule['state'],
  { needsSecond }: RealmRules,
  entry: ScheduledRule | undefined,
  audienceHash: string,
): boolean {
  if (state === 'waits' || state === 'changed' || state === 'unsynced') return true;
  return state === 'approved' && needsSecond && !isApprovedByTwo(entry?.approved ?? null, audienceHash);
}

/** The store knows it, and its file is gone. */
async function goneRule(
  { rule, file, cron, timezone, missed }: ScheduledRule,
  { profile, ledger, last, runs }: RealmRules,
  standing: ScheduleHealth | null,
): Promise<ListedRule> {
  return {
    ...BLANK,
    rule,
    realm: profile.name,
    file,
    schedule: { cron, timezone, missed },
    state: 'gone',
    standing,
    lastScheduled: last.get(rule) ?? null,
    lastRun: await newestRun(ledger, runs, rule),
  };
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
  text: null,
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
