import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { keepRequirement, type RealmLedger, registerRealm, storeNowMs } from '../../ledger/index.js';
import {
  approvedTexts,
  changeScheduledRule,
  dealtWithUntil,
  isGoOfTwo,
  lastRuns,
  type Said,
  type ScheduledRule,
  scheduledRules,
  waitingRuns,
} from '../../rules/approvals.js';
import type { RuleFault } from '../../rules/fault.js';
import { hashOf } from '../../rules/load-rule.js';
import type { Rule } from '../../rules/rule.js';
import { newestTime, type Schedule } from '../../rules/schedule.js';
import type { App } from '../../runtime/app.js';
import { record } from '../people/audit.js';
import { isRequired, personWith, requirementOf } from '../people/who.js';
import { findRules, profileOrNull } from './files.js';
import { lastOf, listBeforeChange, noteTime } from './note-time.js';

/** One rule with a schedule, in the files or in the store, and what the sync made of it. */
export type SyncedRule = {
  readonly rule: string;
  readonly realm: string;
  readonly file: string;
  readonly change: 'new' | 'changed' | 'same' | 'gone' | 'removed' | 'other-realm';
  /** A person's go is there. */
  readonly approved: boolean;
  readonly approvedNow: boolean;
  /** Who wants it to have its go, while a second person has to say it. */
  readonly asked: string | null;
};

export type SyncResult = { readonly rules: readonly SyncedRule[]; readonly faults: readonly RuleFault[] };

type TimedRule = Rule & { readonly schedule: Schedule; readonly audience: string };

type SyncRequest = {
  readonly cwd: string;
  /** Names of rules that the person gives the go; `all` for every one that waits. */
  readonly approve: readonly string[];
  /** Why, in the person's words. */
  readonly why?: string | undefined;
  /** The hash of the one text that the person saw; left out: the files as they stand now. */
  readonly seen?: string;
  readonly prune: boolean;
  /** Handed in by tests. Otherwise the store's: schedules go by it, and a go counts for the times after it. */
  readonly now?: number;
};

/**
 * Makes the store equal to the files. A new or changed rule is put there without a go: it runs only after one
 * person has approved exactly this text. Rules whose file or schedule is gone never run; `prune` removes them.
 * Others may do the same at the same moment: only what is to change is written, each rule by itself, as it stands.
 */
export async function syncRules(app: App, request: SyncRequest): Promise<SyncResult> {
  // Before the files are read: an entry that is another one later was made of files that may be newer than these.
  const present = new Map<RealmProfile, readonly ScheduledRule[]>();
  for (const profile of app.config.profiles) present.set(profile, await scheduledRules(app.ledger(profile)));
  const found = await findRules(app.config, request.cwd);
  const faults = found.flatMap(({ result }) => ('faults' in result ? [...result.faults] : []));
  const scheduled = found.flatMap(({ result }) =>
    'rule' in result && result.rule.schedule !== null
      ? [{ ...result.rule, schedule: result.rule.schedule, audience: result.audience.hash }]
      : [],
  );
  const { seen } = request;
  // Where one text was seen, `all` is a name like any other.
  const everyone = seen === undefined && request.approve.includes('all');
  const approve = everyone ? scheduled.map(({ name }) => name) : request.approve;
  const unknown = approve.find((name) => !scheduled.some((rule) => rule.name === name));
  if (unknown !== undefined)
    throw new AlmonerError(
      'ALM_RULE_NOT_FOUND',
      `No rule with a schedule is called ${JSON.stringify(unknown)}.`,
    );
  const changed = scheduled.find(({ name, hash }) => approve.includes(name) && hash !== (seen ?? hash));
  if (changed !== undefined)
    throw new AlmonerError(
      'ALM_DESK_CHANGED',
      `The text of ${changed.name} is not the one that was shown: its file was changed since. Nothing was approved.`,
      { next: 'Look at the rule as it stands now, then approve it again.' },
    );
  const byProfile = new Map<RealmProfile, TimedRule[]>(app.config.profiles.map((profile) => [profile, []]));
  const rules: SyncedRule[] = [];
  for (const rule of scheduled) {
    const profile = profileOrNull(app.config, rule);
    if (profile !== null) byProfile.get(profile)?.push(rule);
    else {
      const { name, realm, file } = rule;
      rules.push({ ...NOT_APPROVED, rule: name, realm, file, change: 'other-realm' });
    }
  }
  for (const [profile, own] of byProfile)
    rules.push(...(await syncRealm(app, profile, own, present.get(profile) ?? [], { ...request, approve })));
  return { rules, faults };
}

const NOT_APPROVED = { approved: false, approvedNow: false, asked: null } as const;

async function syncRealm(
  app: App,
  profile: RealmProfile,
  rules: readonly TimedRule[],
  present: readonly ScheduledRule[],
  request: SyncRequest,
): Promise<SyncedRule[]> {
  const ledger = app.ledger(profile);
  if (rules.length > 0) await registerRealm(ledger);
  const at = request.now ?? (await storeNowMs(ledger));
  // Who may say go is a matter of the realms whose rules it is said of, and of no other.
  const isSaid = rules.some(({ name }) => request.approve.includes(name));
  const say = await sayer(app, ledger, profile, isSaid, { at, why: request.why ?? null });
  const synced: SyncedRule[] = [];
  const kept: ScheduledRule[] = [];
  for (const rule of rules) {
    const seen = present.find((entry) => entry.rule === rule.name);
    const isApproved = request.approve.includes(rule.name);
    let said = UNSAID;
    if (seen !== undefined && hasOtherTimes(rule, seen)) await listBeforeChange(ledger, seen, at);
    const { before, after: entry } = await changeScheduledRule(ledger, rule.name, (known) => {
      said = isApproved ? say(known?.hash === rule.hash ? known : null, rule.audience) : UNSAID;
      const wanted = entryOf(rule, known, said, at);
      const mayBeNewer = known !== null && known.hash !== rule.hash && !isDeepStrictEqual(known, seen);
      return mayBeNewer || isDeepStrictEqual(known, wanted) ? known : wanted;
    });
    if (entry === null) continue;
    if (isApproved && entry.hash !== rule.hash)
      throw new AlmonerError(
        'ALM_DESK_CHANGED',
        `Another process has put another text of ${rule.name} into the store meanwhile. The rule was not approved.`,
        { next: 'Look at the rule as it stands now, then approve it again.' },
      );
    const approvedNow = said.approved !== null && entry.approved === said.approved;
    if (approvedNow) await keepGo(ledger, rule, before, at);
    const what = syncedWords(before, entry, said);
    if (what !== null)
      await record(app, {
        what: `${what} rule ${rule.name}, text ${entry.hash.slice(0, 12)}`,
        why: request.why ?? null,
      });
    kept.push(entry);
    synced.push({
      rule: rule.name,
      realm: profile.name,
      file: rule.file,
      change: before === null ? 'new' : before.hash === entry.hash ? 'same' : 'changed',
      approved: entry.approved !== null,
      approvedNow,
      asked: entry.asked?.who ?? null,
    });
  }
  const gone = present.filter((entry) => !rules.some(({ name }) => name === entry.rule));
  for (const entry of gone) {
    const one = await syncGone(ledger, profile, entry, { prune: request.prune, at });
    const what = `removed the schedule of rule ${one.rule}, whose file or schedule is gone`;
    if (one.change === 'removed') await record(app, { what, why: request.why ?? null });
    synced.push(one);
  }
  if (kept.length > 0 || present.length > 0) {
    const { syncWakeUps } = await import('../../queue/schedules.js');
    await syncWakeUps(ledger, app.store.connect('schedules'), kept);
  }
  return synced;
}

/** What a sync made of an entry, for the audit; null where it is as it was. */
function syncedWords(before: ScheduledRule | null, after: ScheduledRule, said: SaidOfGo): string | null {
  if (isDeepStrictEqual(before, after)) return null;
  if (said.approved !== null && after.approved === said.approved) return 'approved';
  if (said.asked !== null && after.asked === said.asked) return 'asked for the go of';
  return before === null ? 'added the schedule of' : 'changed the schedule of';
}

/** A rule whose file or schedule is gone. */
async function syncGone(
  ledger: RealmLedger,
  profile: RealmProfile,
  entry: ScheduledRule,
  { prune, at }: { readonly prune: boolean; readonly at: number },
): Promise<SyncedRule> {
  if (prune) await listBeforeChange(ledger, entry, at);
  const { after } = await changeScheduledRule(ledger, entry.rule, (known) =>
    prune && isDeepStrictEqual(known, entry) ? null : known,
  );
  const { rule, file } = entry;
  const change = after === null ? 'removed' : 'gone';
  return { ...NOT_APPROVED, rule, realm: profile.name, file, change };
}

function entryOf(rule: TimedRule, known: ScheduledRule | null, said: SaidOfGo, at: number): ScheduledRule {
  const isSame = known?.hash === rule.hash;
  const approved = said.approved ?? (isSame ? known.approved : null);
  return {
    rule: rule.name,
    file: rule.path,
    hash: rule.hash,
    ...rule.schedule,
    period: rule.period,
    approved,
    asked: said.approved === null ? (said.asked ?? (isSame ? known.asked : null)) : null,
    // A time that had come before is not forgotten with the text that it was of; under other times it is listed.
    waitsSince:
      known === null || hasOtherTimes(rule, known)
        ? at
        : isSame
          ? known.waitsSince
          : (known.approved?.at ?? known.waitsSince),
    takenBack: approved === null ? (known?.takenBack ?? null) : null,
    paused: known?.paused ?? null,
    skip: known?.skip ?? null,
  };
}

function hasOtherTimes({ schedule, period }: TimedRule, known: ScheduledRule): boolean {
  const { cron, timezone } = schedule;
  return cron !== known.cron || timezone !== known.timezone || period !== known.period;
}

/** What a person says of a text's go comes to: the go itself, or that they want it and another has to say it. */
type SaidOfGo = Pick<ScheduledRule, 'approved' | 'asked'>;
const UNSAID: SaidOfGo = { approved: null, asked: null };

/** `known`: the entry of this very text, as it stands. */
async function sayer(
  app: App,
  ledger: RealmLedger,
  profile: RealmProfile,
  isSaid: boolean,
  { at, why }: Pick<Said, 'at' | 'why'>,
): Promise<(known: ScheduledRule | null, audience: string) => SaidOfGo> {
  await keepRequirement(ledger, profile.approval);
  if (!isSaid) return () => UNSAID;
  if (!isRequired(await requirementOf(ledger, profile))) {
    if (app.person !== null) await personWith(app, 'operator');
    const approved = { who: app.config.operator, at, why, asked: null, audience: null };
    return (known) => (known?.approved == null ? { approved, asked: null } : UNSAID);
  }
  const { name, roles } = await personWith(app, 'operator', 'approver');
  return (known, audience) => {
    if (known !== null && isGoOfTwo(known.approved, audience)) return UNSAID;
    const first = known?.asked?.audience === audience ? known.asked : null;
    const isOther = first !== null && first.who.toLowerCase() !== name.toLowerCase();
    if (!isOther) return { approved: null, asked: { who: name, at, why, audience } };
    if (!roles.includes('approver'))
      throw new AlmonerError(
        'ALM_PEOPLE_ROLE',
        `${first.who} wants rule ${known?.rule} to have its go; ${name} is ${roles.join(' and ')}, and saying it needs approver. Nothing was approved.`,
      );
    return { approved: { who: name, at, why, asked: first.who, audience }, asked: null };
  };
}

/** The text is kept for the difference to the next one. A time that has come is over: the go counts for later ones. */
async function keepGo(
  ledger: RealmLedger,
  { name, path, hash }: TimedRule,
  before: ScheduledRule | null,
  at: number,
): Promise<void> {
  if (before !== null) await noteWaited(ledger, before, at);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text !== null && hashOf(text) === hash) await approvedTexts(ledger).put(name, text);
}

async function noteWaited(ledger: RealmLedger, before: ScheduledRule, at: number): Promise<void> {
  const name = before.rule;
  const last = (await lastRuns(ledger)).get(name) ?? null;
  const due = newestTime(before, dealtWithUntil(before, last), at);
  if (due === null) return;
  const waited = (await waitingRuns(ledger)).get(name);
  const why = waited?.at === due ? `It waited: ${waited.message}` : 'Nobody had seen to it.';
  const message = `${why} A go came later and counts for the times after it.`;
  const became = { at: due, result: 'missed', message } as const;
  await noteTime(ledger, before, await lastOf(ledger, before, became, at), message);
}
