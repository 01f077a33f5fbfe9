import { z } from 'zod';
import { accountName } from '../core/reference.js';
import { spellMoment } from '../core/zones.js';
import { notes, type RealmLedger } from '../ledger/index.js';
import { dealtWithUntil, type LastRun, lastRun, type StoredRule } from './approvals.js';
import { periodName } from './calendar.js';
import { timesPassed } from './schedule.js';

/**
 * Scheduled times that paid no member because no scheduler ran. Handling a later time records them in the same step,
 * so that a crash cannot separate the two. A person clears them.
 */

const missedTime = z.object({
  at: z.number(),
  period: z.string(),
  zone: z.string(),
  why: z.string(),
  notedAt: z.number(),
});

export type MissedTime = z.infer<typeof missedTime> & {
  readonly rule: string;
  /** Tokens that orders of its period hold, whatever run made them. */
  readonly held: bigint;
  /** True if the store was rolled back after that time, so its run may have been forgotten. */
  readonly mayBeForgotten: boolean;
};

const dismissed = z.object({
  who: z.string(),
  at: z.number(),
  why: z.string().nullable(),
  /** The batch that makes up for it; null if a person dismissed the time. */
  batch: z.string().nullable(),
});

const pastTime = lastRun
  .partial()
  .required({ at: true, period: true, result: true, message: true })
  .extend({ dismissed: dismissed.nullable().default(null) });
export type PastTime = z.infer<typeof pastTime>;

const UNSEEN = 'No process ran the schedules at that time.';

/** How far a rule's times were examined, and the facts about the last of them. */
export type Passed = {
  readonly last: LastRun | null;
  readonly upTo: number;
  /** True if the time `upTo` is missed itself, not only earlier ones. */
  readonly withIt: boolean;
  /** Why the time `upTo` was not run. */
  readonly why?: string;
};

/**
 * The times that passed without a run since the last handled one. Times after a person paused the schedule or
 * withdrew its approval do not count, nor does a skipped time.
 */
export function missedOf(entry: StoredRule, { last, upTo, withIt, why }: Passed): notes.MissedToNote | null {
  const { timezone: zone, paused, takenBack, approved, skip } = entry;
  const heldBackAt = [paused?.at, approved === null ? takenBack?.at : undefined];
  const end = Math.min(
    withIt ? upTo : upTo - 1,
    ...heldBackAt.map((at) => (at ?? Number.POSITIVE_INFINITY) - 1),
  );
  const { times, older } = timesPassed(entry, dealtWithUntil(entry, last), end);
  const missed = times.filter((at) => at !== skip?.time);
  if (missed.length === 0) return null;
  const whyOf = (at: number) => {
    if (at === upTo && why !== undefined) return why;
    if (last === null || at > last.finishedAt) return UNSEEN;
    return `The run of ${spellMoment(last.at, zone)} was still waiting or running.`;
  };
  return { zone, older, times: missed.map((at) => [at, periodName(entry.period, at, zone), whyOf(at)]) };
}

/** The number of times in a note of missed ones. */
export function missedCount(missed: notes.MissedToNote | null): number {
  return missed === null ? 0 : missed.times.length + missed.older;
}

/** The missed times of one rule, oldest first. */
export async function missedTimes(ledger: RealmLedger, rule: string): Promise<MissedTime[]> {
  const missed = (await notes.scheduledTimes.missedNotes(ledger, rule)).map((text) =>
    missedTime.parse(JSON.parse(text)),
  );
  const periods = [...new Set(missed.map(({ period }) => period))];
  const [held, forgotAt] = await Promise.all([
    notes.scheduledTimes.heldTokens(
      ledger,
      periods.map((period) => accountName(rule, period)),
    ),
    notes.scheduledTimes.forgotAt(ledger),
  ]);
  return missed.map((note) => ({
    ...note,
    rule,
    held: BigInt(held[periods.indexOf(note.period)] ?? '0'),
    mayBeForgotten: forgotAt !== null && note.at < forgotAt && forgotAt < note.notedAt,
  }));
}

/** The outcomes of one rule's times before a moment, newest first. */
export async function pastTimes(
  ledger: RealmLedger,
  rule: string,
  before: number,
  limit: number,
): Promise<PastTime[]> {
  const past = await notes.scheduledTimes.pastNotes(ledger, rule, before, limit);
  return past.map((text) => pastTime.parse(JSON.parse(text)));
}
