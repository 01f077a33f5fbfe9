import { z } from 'zod';
import { isAlmonerError } from '../core/errors/error.js';
import { notes, type RealmLedger, steering } from '../ledger/index.js';
import { PERIODS } from './schema.js';

/** A decision of a person about a rule's schedule. */
const said = z.object({ who: z.string(), at: z.number(), why: z.string().nullable().default(null) });
export type Said = z.infer<typeof said>;

/**
 * The member list that both people saw. If the list differs later, the rule's batch waits for the approval of two
 * people.
 */
const forAudience = { audience: z.string().nullable().default(null) };

/**
 * A rule with a schedule, as stored in the ledger. `rules sync` writes these entries. A rule runs only while its file
 * is exactly the one that a person approved. The scheduler stores its last run separately, so that the two never
 * write the same entry.
 */
const scheduledRule = z.object({
  rule: z.string(),
  /** The absolute path at the time of `rules sync`. */
  file: z.string(),
  hash: z.string(),
  cron: z.string(),
  timezone: z.string(),
  missed: z.enum(['skip', 'once']),
  /** Used to name the period of each time, even after the file was changed or removed. */
  period: z.enum(PERIODS),
  /** When the rule last began to wait for an approval. Later times are reported as waiting until it is approved. */
  waitsSince: z.number().default(0),
  /**
   * `asked`: who requested the approval, where approvals are required. `byToken`: the approver was identified by a
   * token; otherwise the name was only set.
   */
  approved: said
    .extend({
      asked: z.string().nullable().default(null),
      byToken: z.boolean().default(false),
      ...forAudience,
    })
    .nullable(),
  /** Who withdrew the approval; null while the rule is approved. */
  takenBack: said.nullable().default(null),
  /** While paused, scheduled times pass without a run. */
  paused: said.nullable().default(null),
  /**
   * One scheduled time that passes without a run. Sealing a batch checks pause and skip again: see
   * includes/schedule.lua.
   */
  skip: said.extend({ time: z.number() }).nullable().default(null),
});
export type StoredRule = z.infer<typeof scheduledRule>;

/** `asked`: who requested the approval of this text, until a second person approves it. */
export type ScheduledRule = StoredRule & { readonly asked: Asked | null };
/** The hash of what the approval was requested for, including the members. */
type Asked = Said & { readonly hash: string };

/** True if two people approved the text with its present member list (see includes/schedule.lua). */
export function isApprovedByTwo(approved: StoredRule['approved'], audience: string): boolean {
  return approved?.asked != null && approved.audience === audience;
}

export const lastRun = z.object({
  /** The scheduled time that was handled. */
  at: z.number(),
  period: z.string(),
  result: z.enum(['enqueued', 'nothing', 'stopped', 'failed', 'skipped', 'missed', 'paused']),
  run: z.string().nullable(),
  batch: z.string().nullable(),
  message: z.string().nullable(),
  /** How many earlier scheduled times stay without a run. */
  skipped: z.number(),
  finishedAt: z.number(),
});
export type LastRun = z.infer<typeof lastRun>;

/** Why a due time is not handled yet. A handled time has no such entry: see `LastRun`. */
const waitingRun = z.object({
  at: z.number(),
  why: z.enum(['planning', 'go', 'realm', 'store', 'trouble']),
  message: z.string(),
  since: z.number(),
});
export type WaitingRun = z.infer<typeof waitingRun>;

/** All rules with a schedule, with their requested approvals. */
export async function scheduledRules(ledger: RealmLedger): Promise<ScheduledRule[]> {
  const [all, requests] = await Promise.all([storedRules(ledger), steering.approvals.ruleRequests(ledger)]);
  return all.map((one) => {
    const request = requests.get(one.rule);
    if (request === undefined || request.text !== one.hash) return { ...one, asked: null };
    const { who, at, why = null, hash } = request;
    return { ...one, asked: { who, at, why, hash } };
  });
}

/** The stored entries without the requested approvals: the part that `changeScheduledRule` compares and writes. */
export async function storedRules(ledger: RealmLedger): Promise<StoredRule[]> {
  const all = await notes.stores.rules(ledger, 'schedules', scheduledRule).all();
  return [...all.values()].sort((a, b) => a.rule.localeCompare(b.rule));
}

/**
 * Changes an entry atomically. `change` gets the current entry. It returns the same entry to leave it, or null to
 * remove it.
 */
export function changeScheduledRule(
  ledger: RealmLedger,
  rule: string,
  change: (known: StoredRule | null) => StoredRule | null,
) {
  return notes.stores.rules(ledger, 'schedules', scheduledRule).change(rule, change);
}

/** The last handled time of each rule. */
export function lastRuns(ledger: RealmLedger): Promise<Map<string, LastRun>> {
  return notes.stores.rules(ledger, 'last', lastRun).all();
}

/** The due times that wait, by rule. */
export function waitingRuns(ledger: RealmLedger): Promise<Map<string, WaitingRun>> {
  return notes.stores.rules(ledger, 'waiting', waitingRun).all();
}

/**
 * Records why a due time waits. Returns true if this is news. `since` is the time of the first note with the same
 * time and reason.
 */
export async function noteWaiting(ledger: RealmLedger, rule: string, now: WaitingRun): Promise<boolean> {
  const { before, after } = await notes.stores.rules(ledger, 'waiting', waitingRun).change(rule, (known) => {
    const isSame = known?.at === now.at && known.why === now.why;
    // A further attempt says nothing new about the obstacle, so keep the earlier reason.
    if (now.why === 'planning' && known?.at === now.at && known.why !== 'go') return known;
    if (isSame && known.message === now.message) return known;
    return isSame ? { ...now, since: known.since } : now;
  });
  return before !== after;
}

/** The text that was last approved, also while another text waits. Stored separately, because it may be long. */
export function approvedTexts(ledger: RealmLedger) {
  return notes.stores.rules(ledger, 'texts', z.string());
}

/** The members that were last approved, stored separately for the same reason. Missing if the list was too long. */
export function approvedMembers(ledger: RealmLedger) {
  return notes.stores.rules(ledger, 'members', z.string());
}

/** When the scheduler last checked the schedules (`looked`), and when every time last had an outcome (`good`). */
export function roundNotes(ledger: RealmLedger) {
  return notes.stores.rules(ledger, 'rounds', z.number());
}

/** The time up to which scheduled times are handled or void. An approval counts only for later times. */
export function dealtWithUntil({ approved, waitsSince }: StoredRule, last: LastRun | null): number {
  return Math.max(last?.at ?? 0, approved?.at ?? waitsSince);
}

export function lastRunOf(
  done: Pick<LastRun, 'at' | 'period' | 'result'> & Partial<LastRun>,
  finishedAt: number,
): LastRun {
  return { run: null, batch: null, message: null, skipped: 0, ...done, finishedAt };
}

/** The reason why a run that failed waits. */
export function whyWaiting(error: unknown): WaitingRun['why'] {
  const code = isAlmonerError(error) ? error.code : '';
  if (/^ALM_(STORE|LEDGER)_/.test(code)) return 'store';
  return /^ALM_(REALM|SEND|KEY|PROXY)_/.test(code) ? 'realm' : 'trouble';
}
