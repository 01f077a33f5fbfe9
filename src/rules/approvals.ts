import { z } from 'zod';
import { isAlmonerError } from '../core/errors/error.js';
import { notes, type RealmLedger, steering } from '../ledger/index.js';
import { PERIODS } from './schema.js';

/** What a person said of a rule's schedule. */
const said = z.object({ who: z.string(), at: z.number(), why: z.string().nullable().default(null) });
export type Said = z.infer<typeof said>;

/** The members whom the two have seen: a list that is another one by then is paid by a batch that waits for two people. */
const forAudience = { audience: z.string().nullable().default(null) };

/**
 * Which rules run by themselves. `rules sync` writes the entries; a rule runs only while its file is the very
 * one that a person approved. What the scheduler did last is kept apart, so that two writers never meet.
 */
const scheduledRule = z.object({
  rule: z.string(),
  /** Absolute, as `rules sync` saw it. */
  file: z.string(),
  hash: z.string(),
  cron: z.string(),
  timezone: z.string(),
  missed: z.enum(['skip', 'once']),
  /** Names the period of each time, also once the file is another one or gone. */
  period: z.enum(PERIODS),
  /** When it last came to wait for a go; the times after it are told as waiting, as long as there is none. */
  waitsSince: z.number().default(0),
  /** `asked`: who asked for it, where approvals are required. `byToken`: its owner is known; else the name was only set. */
  approved: said
    .extend({
      asked: z.string().nullable().default(null),
      byToken: z.boolean().default(false),
      ...forAudience,
    })
    .nullable(),
  /** Who took the go back, while there is none. */
  takenBack: said.nullable().default(null),
  /** Its times pass without a run. */
  paused: said.nullable().default(null),
  /** One time that passes without a run. Both are asked again where a batch is sealed: see includes/schedule.lua. */
  skip: said.extend({ time: z.number() }).nullable().default(null),
});
export type StoredRule = z.infer<typeof scheduledRule>;

/** `asked`: who asked for the approval of this very text, while no second person has approved it. */
export type ScheduledRule = StoredRule & { readonly asked: Asked | null };
/** `hash`: of what it was asked for, which is the members, too. */
type Asked = Said & { readonly hash: string };

/** Whether a text's go is that of two people, for the members as they are listed now (see includes/schedule.lua). */
export function isGoOfTwo(approved: StoredRule['approved'], audience: string): boolean {
  return approved?.asked != null && approved.audience === audience;
}

export const lastRun = z.object({
  /** The scheduled time that was dealt with. */
  at: z.number(),
  period: z.string(),
  result: z.enum(['enqueued', 'nothing', 'stopped', 'failed', 'skipped', 'missed', 'paused']),
  run: z.string().nullable(),
  batch: z.string().nullable(),
  message: z.string().nullable(),
  /** Scheduled times before it that stay without a run. */
  skipped: z.number(),
  finishedAt: z.number(),
});
export type LastRun = z.infer<typeof lastRun>;

/** Why a time that has come is not dealt with yet. It says nothing of a time that is: see `LastRun`. */
const waitingRun = z.object({
  at: z.number(),
  why: z.enum(['planning', 'go', 'realm', 'store', 'trouble']),
  message: z.string(),
  since: z.number(),
});
export type WaitingRun = z.infer<typeof waitingRun>;

export async function scheduledRules(ledger: RealmLedger): Promise<ScheduledRule[]> {
  const [all, requests] = await Promise.all([storedRules(ledger), steering.approvals.ruleRequests(ledger)]);
  return all.map((one) => {
    const request = requests.get(one.rule);
    if (request === undefined || request.text !== one.hash) return { ...one, asked: null };
    const { who, at, why = null, hash } = request;
    return { ...one, asked: { who, at, why, hash } };
  });
}

/** Without what was asked for: what `changeScheduledRule` compares and writes. */
export async function storedRules(ledger: RealmLedger): Promise<StoredRule[]> {
  const all = await notes.ruleNotes(ledger, 'schedules', scheduledRule).all();
  return [...all.values()].sort((a, b) => a.rule.localeCompare(b.rule));
}

/** `change` sees the entry as it stands, and gives the very same one back to leave it, or null to remove it. */
export function changeScheduledRule(
  ledger: RealmLedger,
  rule: string,
  change: (known: StoredRule | null) => StoredRule | null,
) {
  return notes.ruleNotes(ledger, 'schedules', scheduledRule).change(rule, change);
}

export function lastRuns(ledger: RealmLedger): Promise<Map<string, LastRun>> {
  return notes.ruleNotes(ledger, 'last', lastRun).all();
}

export function waitingRuns(ledger: RealmLedger): Promise<Map<string, WaitingRun>> {
  return notes.ruleNotes(ledger, 'waiting', waitingRun).all();
}

/** True where it is news; `since` is of the first note of the same time and reason. */
export async function noteWaiting(ledger: RealmLedger, rule: string, now: WaitingRun): Promise<boolean> {
  const { before, after } = await notes.ruleNotes(ledger, 'waiting', waitingRun).change(rule, (known) => {
    const isSame = known?.at === now.at && known.why === now.why;
    // One more try tells nothing new of what stands in the way.
    if (now.why === 'planning' && known?.at === now.at && known.why !== 'go') return known;
    if (isSame && known.message === now.message) return known;
    return isSame ? { ...now, since: known.since } : now;
  });
  return before !== after;
}

/** The text that last had a go, also while another one waits; apart from the rest, because it may be long. */
export function approvedTexts(ledger: RealmLedger) {
  return notes.ruleNotes(ledger, 'texts', z.string());
}

/** The members that were last approved, apart from the rest for the same reason; missing where there were too many. */
export function approvedMembers(ledger: RealmLedger) {
  return notes.ruleNotes(ledger, 'members', z.string());
}

/** When somebody last saw to the schedules (`looked`), and last found every time with its outcome (`good`). */
export function roundNotes(ledger: RealmLedger) {
  return notes.ruleNotes(ledger, 'rounds', z.number());
}

/** Times up to then are dealt with, or none of the schedule's: a go counts for the times after it. */
export function dealtWithUntil({ approved, waitsSince }: StoredRule, last: LastRun | null): number {
  return Math.max(last?.at ?? 0, approved?.at ?? waitsSince);
}

export function lastRunOf(
  done: Pick<LastRun, 'at' | 'period' | 'result'> & Partial<LastRun>,
  finishedAt: number,
): LastRun {
  return { run: null, batch: null, message: null, skipped: 0, ...done, finishedAt };
}

/** What a run that came to nothing waits for. */
export function whyWaiting(error: unknown): WaitingRun['why'] {
  const code = isAlmonerError(error) ? error.code : '';
  if (/^ALM_(STORE|LEDGER)_/.test(code)) return 'store';
  return /^ALM_(REALM|SEND|KEY|PROXY)_/.test(code) ? 'realm' : 'trouble';
}
