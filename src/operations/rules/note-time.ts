import { notes, type RealmLedger } from '../../ledger/index.js';
import {
  approvedTexts,
  type LastRun,
  lastRunOf,
  lastRuns,
  type StoredRule,
  type WaitingRun,
} from '../../rules/approvals.js';
import { periodName } from '../../rules/calendar.js';
import { missedCount, missedOf } from '../../rules/missed.js';

/** What becomes of a time of a schedule, and which times it passes over: one step notes both. */
export type Became = Pick<LastRun, 'result'> & Partial<LastRun>;

const isListed = ({ result }: Pick<LastRun, 'result'>) => result === 'missed' || result === 'paused';

export async function lastOf(
  ledger: RealmLedger,
  entry: StoredRule,
  { at, ...became }: Became & { readonly at: number },
  now: number,
): Promise<LastRun> {
  const last = await lastOfRule(ledger, entry.rule);
  const skipped = missedCount(missedOf(entry, { last, upTo: at, withIt: became.result === 'missed' }));
  return lastRunOf({ at, period: periodName(entry.period, at, entry.timezone), skipped, ...became }, now);
}

/**
 * False where another process has noted that time. The time itself is listed as missed, too, where its schedule was
 * paused only after it had come. A rule that was never approved owed nobody anything.
 */
export async function noteTime(
  ledger: RealmLedger,
  entry: StoredRule,
  last: LastRun,
  why?: string,
): Promise<boolean> {
  const before = await lastOfRule(ledger, entry.rule);
  const passed = { last: before, upTo: last.at, withIt: isListed(last), ...(why !== undefined && { why }) };
  const missed = (await wasApproved(ledger, entry)) ? missedOf(entry, passed) : null;
  return notes.scheduledTimes.noteLastRun(ledger, entry.rule, last, missed);
}

/** A later time has come, so that the one that waited is passed over: its reason would be lost with its note. */
export async function listWaited(
  ledger: RealmLedger,
  entry: StoredRule,
  { at, why, message }: WaitingRun,
): Promise<void> {
  const last = await lastOfRule(ledger, entry.rule);
  const words = why === 'planning' ? 'Its run was begun and not finished.' : message;
  const missed = missedOf(entry, { last, upTo: at, withIt: true, why: words });
  const times = missed?.times.filter(([time]) => time === at) ?? [];
  if (missed !== null && times.length > 0)
    await notes.scheduledTimes.noteMissed(ledger, entry.rule, { ...missed, times, older: 0 });
}

/** The schedule is about to have other times, or to go: those that passed are known by the present ones only. */
export async function listBeforeChange(ledger: RealmLedger, entry: StoredRule, now: number): Promise<void> {
  const last = await lastOfRule(ledger, entry.rule);
  const missed = (await wasApproved(ledger, entry))
    ? missedOf(entry, { last, upTo: now, withIt: true })
    : null;
  if (missed !== null) await notes.scheduledTimes.noteMissed(ledger, entry.rule, missed);
}

async function wasApproved(ledger: RealmLedger, { approved, rule }: StoredRule): Promise<boolean> {
  return approved !== null || (await approvedTexts(ledger).get(rule)) !== null;
}

async function lastOfRule(ledger: RealmLedger, rule: string): Promise<LastRun | null> {
  return (await lastRuns(ledger)).get(rule) ?? null;
}
