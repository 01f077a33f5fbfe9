import { newestTime, type Schedule, timesAfter } from './schedule.js';

/**
 * Which runs are due is a pure function of the schedule, the last time that was dealt with, and the time
 * handed in. A wake-up that comes twice, late or never changes nothing of it.
 */
export type Due = {
  /** The scheduled time to run for; its period is the run's period, however late it is made up for. */
  readonly run: number | null;
  /** Times that passed without a run and stay without one, counted up to a hundred. */
  readonly skipped: number;
};

/** A wake-up within this time of its schedule is on time; the program may be busy, or just starting. */
export const ON_TIME_MS = 10 * 60_000;
const SKIPPED_COUNTED_MAX = 100;

export function dueRuns(schedule: Schedule, lastRun: number, now: number): Due {
  const newest = newestTime(schedule, lastRun, now);
  if (newest === null) return { run: null, skipped: 0 };
  const runs = schedule.missed === 'once' || now - newest <= ON_TIME_MS;
  let skipped = runs ? 0 : 1;
  for (const time of timesAfter(schedule, lastRun)) {
    if (time >= newest || skipped >= SKIPPED_COUNTED_MAX) break;
    skipped += 1;
  }
  return { run: runs ? newest : null, skipped };
}
