import { z } from 'zod';
import type { RealmLedger } from '../ledger/index.js';
import { changeField } from './change-field.js';

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
  approved: z.object({ who: z.string(), at: z.number() }).nullable(),
});
export type ScheduledRule = z.infer<typeof scheduledRule>;

const lastRun = z.object({
  /** The scheduled time that was dealt with. */
  at: z.number(),
  result: z.enum(['enqueued', 'nothing', 'stopped', 'failed', 'skipped']),
  run: z.string().nullable(),
  batch: z.string().nullable(),
  message: z.string().nullable(),
  /** Scheduled times before it that stay without a run. */
  skipped: z.number(),
  finishedAt: z.number(),
});
export type LastRun = z.infer<typeof lastRun>;

const entriesKey = (ledger: RealmLedger) => `${ledger.keyPrefix}:rules:schedules`;
const lastKey = (ledger: RealmLedger) => `${ledger.keyPrefix}:rules:last`;

export async function scheduledRules(ledger: RealmLedger): Promise<ScheduledRule[]> {
  const { scripts } = ledger;
  const all = await scripts.retryWhileAway('list schedules', () => scripts.redis.hvals(entriesKey(ledger)));
  return all
    .map((json) => scheduledRule.parse(JSON.parse(json)))
    .sort((a, b) => a.rule.localeCompare(b.rule));
}

/** `change` sees the entry as it stands, and gives the very same one back to leave it, or null to remove it. */
export async function changeScheduledRule(
  ledger: RealmLedger,
  rule: string,
  change: (known: ScheduledRule | null) => ScheduledRule | null,
): Promise<Record<'before' | 'after', ScheduledRule | null>> {
  let changed: Record<'before' | 'after', ScheduledRule | null> = { before: null, after: null };
  await changeField(ledger, entriesKey(ledger), rule, (text) => {
    const before = text === null ? null : scheduledRule.parse(JSON.parse(text));
    const after = change(before);
    changed = { before, after };
    if (after === before) return text;
    return after === null ? null : JSON.stringify(after);
  });
  return changed;
}

export async function lastRuns(ledger: RealmLedger): Promise<Map<string, LastRun>> {
  const { scripts } = ledger;
  const all = await scripts.retryWhileAway('read last runs', () => scripts.redis.hgetall(lastKey(ledger)));
  return new Map(Object.entries(all).map(([rule, json]) => [rule, lastRun.parse(JSON.parse(json))]));
}

export function lastRunOf(
  done: Pick<LastRun, 'at' | 'result'> & Partial<LastRun>,
  finishedAt: number,
): LastRun {
  return { run: null, batch: null, message: null, skipped: 0, ...done, finishedAt };
}

/** What became of it, for people. */
export function lastRunWords({ result, skipped, message }: LastRun): string {
  return `${result}${skipped > 0 ? `, ${skipped} missed` : ''}${message === null ? '' : `: ${message}`}`;
}

/**
 * Notes what became of a scheduled time; false where somebody else has dealt with it, or it has not come. What was
 * noted with the seal of a batch is noted.
 */
export async function noteLastRun(ledger: RealmLedger, rule: string, last: LastRun): Promise<boolean> {
  return (
    (await ledger.scripts.script('note-scheduled', ledger.keyPrefix, [rule, JSON.stringify(last)])) === 'ok'
  );
}

const RENEW =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
const RELEASE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/**
 * Keeps a second scheduler from reading the same facts at the same time. It saves requests and is no guard
 * against paying twice: that is the period's reference, so that a claim may expire without harm.
 */
export async function claimRule(ledger: RealmLedger, rule: string, owner: string, ttlMs: number) {
  const { scripts } = ledger;
  const key = `${ledger.keyPrefix}:rules:claim:${rule}`;
  const taken = await scripts.retryWhileAway('claim rule', () =>
    scripts.redis.set(key, owner, 'PX', ttlMs, 'NX'),
  );
  if (taken === null) return undefined;
  return {
    renew: () => scripts.retryWhileAway('renew claim', () => scripts.redis.eval(RENEW, 1, key, owner, ttlMs)),
    release: () => scripts.retryWhileAway('release claim', () => scripts.redis.eval(RELEASE, 1, key, owner)),
  };
}
