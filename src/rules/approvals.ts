import { z } from 'zod';
import { type RealmLedger, ruleNotes } from '../ledger/index.js';

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

export async function scheduledRules(ledger: RealmLedger): Promise<ScheduledRule[]> {
  const all = await ruleNotes(ledger, 'schedules', scheduledRule).all();
  return [...all.values()].sort((a, b) => a.rule.localeCompare(b.rule));
}

/** `change` sees the entry as it stands, and gives the very same one back to leave it, or null to remove it. */
export function changeScheduledRule(
  ledger: RealmLedger,
  rule: string,
  change: (known: ScheduledRule | null) => ScheduledRule | null,
) {
  return ruleNotes(ledger, 'schedules', scheduledRule).change(rule, change);
}

export function lastRuns(ledger: RealmLedger): Promise<Map<string, LastRun>> {
  return ruleNotes(ledger, 'last', lastRun).all();
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
