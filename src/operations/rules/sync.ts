import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { type RealmLedger, registerRealm, steering, storeNowMs } from '../../ledger/index.js';
import {
  approvedTexts,
  changeScheduledRule,
  dealtWithUntil,
  lastRuns,
  type StoredRule,
  storedRules,
  waitingRuns,
} from '../../rules/approvals.js';
import type { RuleFault } from '../../rules/fault.js';
import { hashOf } from '../../rules/load-rule.js';
import { newestTime } from '../../rules/schedule.js';
import type { App } from '../../runtime/app.js';
import { record } from '../people/audit.js';
import { isKnown, revoked } from '../people/who.js';
import { type Said, sayer, type TimedRule, UNSAID } from './approve-rule.js';
import { ruleHash, yardstickOf } from './before-go.js';
import { findRules, profileOrNull } from './files.js';
import { lastOf, listBeforeChange, noteTime } from './note-time.js';
import { keepMembers } from './rule-members.js';

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

type SyncRequest = {
  readonly cwd: string;
  /** Names of rules that the person gives the go; `all` for every one that waits. */
  readonly approve: readonly string[];
  /** Why, in the person's words. */
  readonly why?: string | undefined;
  /** The hash of the one rule with its members that the person saw (`ruleHash`); left out: the files as they stand now. */
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
  const present = new Map<RealmProfile, readonly StoredRule[]>();
  for (const profile of app.config.profiles) present.set(profile, await storedRules(app.ledger(profile)));
  const found = await findRules(app.config, request.cwd);
  const faults = found.flatMap(({ result }) => ('faults' in result ? [...result.faults] : []));
  const scheduled = found.flatMap(({ result }) =>
    'rule' in result && result.rule.schedule !== null
      ? [
          {
            ...result.rule,
            schedule: result.rule.schedule,
            audience: result.audience.hash,
            members: result.audience,
          },
        ]
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
  const changed = scheduled.find(
    (rule) => approve.includes(rule.name) && seen !== undefined && seen !== hashToApprove(app, rule),
  );
  if (changed !== undefined)
    throw new AlmonerError(
      'ALM_DESK_CHANGED',
      `Rule ${changed.name} is not what was shown: its text or its list of members was changed since. Nothing was approved.`,
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
    rules.push(
      ...(await syncRealm(
        app,
        profile,
        { rules: own, present: present.get(profile) ?? [] },
        { ...request, approve },
      )),
    );
  return { rules, faults };
}

const NOT_APPROVED = { approved: false, approvedNow: false, asked: null } as const;

async function syncRealm(
  app: App,
  profile: RealmProfile,
  { rules, present }: { readonly rules: readonly TimedRule[]; readonly present: readonly StoredRule[] },
  request: SyncRequest,
): Promise<SyncedRule[]> {
  const ledger = app.ledger(profile);
  if (rules.length > 0) await registerRealm(ledger);
  const at = request.now ?? (await storeNowMs(ledger));
  // Who may say go is a matter of the realms whose rules it is said of, and of no other.
  const isSaid = rules.some(({ name }) => request.approve.includes(name));
  const say = await sayer(app, ledger, { profile, isSaid, at, why: request.why ?? null });
  const synced: SyncedRule[] = [];
  const kept: StoredRule[] = [];
  for (const rule of rules) {
    const seen = present.find((entry) => entry.rule === rule.name);
    const isApproved = request.approve.includes(rule.name);
    const said = isApproved ? await say(rule, seen?.hash === rule.hash ? seen : null) : UNSAID;
    const one = await syncRule(app, ledger, rule, { seen, isApproved, said, at, why: request.why ?? null });
    if (one === null) continue;
    kept.push(one.entry);
    synced.push({
      rule: rule.name,
      realm: profile.name,
      file: rule.file,
      change: one.before === null ? 'new' : one.before.hash === one.entry.hash ? 'same' : 'changed',
      approved: one.entry.approved !== null,
      approvedNow: one.approvedNow,
      asked: said.asked,
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

/** Writes one rule into the store, with what a person said of it; null where nothing of it is kept. */
async function syncRule(
  app: App,
  ledger: RealmLedger,
  rule: TimedRule,
  {
    seen,
    isApproved,
    said,
    at,
    why,
  }: {
    readonly seen: StoredRule | undefined;
    readonly isApproved: boolean;
    readonly said: Said;
    readonly at: number;
    readonly why: string | null;
  },
) {
  if (seen !== undefined && hasOtherTimes(rule, seen)) await listBeforeChange(ledger, seen, at);
  const { before, after: entry } = await changeScheduledRule(ledger, rule.name, (known) => {
    const wanted = entryOf(rule, known, said, at);
    const mayBeNewer = known !== null && known.hash !== rule.hash && !isDeepStrictEqual(known, seen);
    return mayBeNewer || isDeepStrictEqual(known, wanted) ? known : wanted;
  });
  if (entry === null) return null;
  if (isApproved && entry.hash !== rule.hash)
    throw new AlmonerError(
      'ALM_DESK_CHANGED',
      `Another process has put another text of ${rule.name} into the store meanwhile. The rule was not approved.`,
      { next: 'Look at the rule as it stands now, then approve it again.' },
    );
  const approvedNow = said.approved !== null && entry.approved === said.approved;
  if (approvedNow && said.approved?.asked != null) await takeBackIfRevoked(app, ledger, rule.name, said);
  const hash = ruleHash(ledger, rule);
  if (approvedNow) {
    await keepGo(ledger, rule, before, at);
    await steering.approvals.rejectApproval({ kind: 'rule', ledger, rule: rule.name }, hash, null);
  }
  const what = syncedWords(before, entry, said);
  if (what !== null) await record(app, { what: `${what} rule ${rule.name}, text ${hash.slice(0, 12)}`, why });
  return { before, entry, approvedNow };
}

/** The token was revoked while the rule was written: revoking has gone through the rules before, or will find this one. */
async function takeBackIfRevoked(
  app: App,
  ledger: RealmLedger,
  rule: string,
  { approved }: Said,
): Promise<void> {
  if (approved === null || (await isKnown(app, approved.who))) return;
  await changeScheduledRule(ledger, rule, (known) =>
    known !== null && isDeepStrictEqual(known.approved, approved) ? { ...known, approved: null } : known,
  );
  throw revoked(approved.who);
}

/** What a sync made of an entry, for the audit; null where it is as it was. */
function syncedWords(before: StoredRule | null, after: StoredRule, said: Said): string | null {
  if (said.isAskedNow) return 'asked for the approval of';
  if (isDeepStrictEqual(before, after)) return null;
  if (said.approved !== null && after.approved === said.approved) return 'approved';
  return before === null ? 'added the schedule of' : 'changed the schedule of';
}

/** A rule whose file or schedule is gone. */
async function syncGone(
  ledger: RealmLedger,
  profile: RealmProfile,
  entry: StoredRule,
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

function entryOf(rule: TimedRule, known: StoredRule | null, said: Said, at: number): StoredRule {
  const isSame = known?.hash === rule.hash;
  const approved = said.approved ?? (isSame ? known.approved : null);
  return {
    rule: rule.name,
    file: rule.path,
    hash: rule.hash,
    ...rule.schedule,
    period: rule.period,
    approved,
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

function hasOtherTimes({ schedule, period }: TimedRule, known: StoredRule): boolean {
  const { cron, timezone } = schedule;
  return cron !== known.cron || timezone !== known.timezone || period !== known.period;
}

function hashToApprove(app: App, rule: TimedRule): string | null {
  const profile = profileOrNull(app.config, rule);
  return profile === null ? null : ruleHash(app.ledger(profile), rule);
}

/** Text and members are kept for the difference to the next ones. A time that has come is over: the go counts for later ones. */
async function keepGo(
  ledger: RealmLedger,
  { name, path, hash, members }: TimedRule,
  before: StoredRule | null,
  at: number,
): Promise<void> {
  if (before !== null) await noteWaited(ledger, before, at);
  const text = await readFile(path, 'utf8').catch(() => null);
  // By itself as well: what one person approved later is shown against it.
  for (const yardstick of new Set([name, yardstickOf(ledger, name)])) {
    if (text !== null && hashOf(text) === hash) await approvedTexts(ledger).put(yardstick, text);
    await keepMembers(ledger, yardstick, members);
  }
}

async function noteWaited(ledger: RealmLedger, before: StoredRule, at: number): Promise<void> {
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
