import { CronExpressionParser } from 'cron-parser';
import { messageOf } from '../core/errors/error.js';
import { momentOf, wallOf } from '../core/zones.js';

/** The times of a rule as its file writes them. */
export type Schedule = {
  readonly cron: string;
  readonly timezone: string;
  readonly missed: 'skip' | 'once';
};

type Times = Pick<Schedule, 'cron' | 'timezone'>;

/**
 * Yields the times of a schedule. cron-parser walks the wall clock as if it were UTC, and each wall time is then
 * converted to its single moment (see core/zones.ts). Its own time zone support is not used: backwards, version 5.10
 * yields `30 2 * * *` twice on the day that hour occurs twice, and not at all on the day it is skipped. A reward must
 * be paid exactly once.
 */
function* timesAfter({ cron, timezone }: Times, after: number): Generator<number, void, undefined> {
  // The wall clock may be set back within the next hours. Starting a step earlier makes sure that no time is missed.
  const times = wallTimes(cron, wallOf(after, timezone) - STEP_MS);
  let last = after;
  while (times.hasNext()) {
    const moment = momentOf(times.next().getTime(), timezone);
    if (moment <= last) continue;
    last = moment;
    yield moment;
  }
}

/** The next time after a moment; null if the schedule has none. */
export function nextTime(schedule: Times, after: number): number | null {
  return timesAfter(schedule, after).next().value ?? null;
}

/** The next times after a moment. */
export function nextTimes(schedule: Times, after: number, count: number): number[] {
  const found: number[] = [];
  for (const time of timesAfter(schedule, after)) {
    if (found.length >= count) break;
    found.push(time);
  }
  return found;
}

/** The newest due time of the schedule, if it is later than `after`. */
export function newestTime({ cron, timezone }: Times, after: number, now: number): number | null {
  const times = wallTimes(cron, wallOf(now, timezone) + STEP_MS);
  for (let step = 0; step < STEPS_MAX && times.hasPrev(); step++) {
    const moment = momentOf(times.prev().getTime(), timezone);
    if (moment <= after) return null;
    if (moment <= now) return moment;
  }
  return null;
}

function wallTimes(cron: string, from: number) {
  return CronExpressionParser.parse(cron, { currentDate: new Date(from), tz: 'UTC' });
}

/** More than any change of a zone's clock, but less than a day. */
const STEP_MS = 3 * 3_600_000;
/** A rule that runs every minute has 180 times within STEP_MS. */
const STEPS_MAX = 500;

/**
 * The characters allowed in each field. cron-parser knows more, but its `H` is drawn at random at every parse, so the
 * schedule would have other times each time. `L` and `#` name fixed days and are allowed.
 */
const FIELDS = [
  /^[0-9*,/-]+$/,
  /^[0-9*,/-]+$/,
  /^[0-9*,/?L-]+$/,
  /^([0-9*,/-]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)+$/i,
  /^([0-9*,/?L#-]|SUN|MON|TUE|WED|THU|FRI|SAT)+$/i,
];
const EXPECTED = 'expected five fields: minute, hour, day of month, month, day of week';

/** Describes the fault of a cron text; undefined if it has none. */
export function cronFault(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `${JSON.stringify(cron)} is not a schedule; ${EXPECTED}.`;
  const odd = fields.find((field, at) => FIELDS[at]?.test(field) !== true);
  if (odd !== undefined) {
    const drawn = /H/.test(odd.replace(/THU/gi, '')) ? ' (H would be another time at each reading)' : '';
    return `${JSON.stringify(cron)} is not a schedule: ${JSON.stringify(odd)} is not allowed there${drawn}; ${EXPECTED}.`;
  }
  try {
    wallTimes(cron, 0).next();
    return undefined;
  } catch (error) {
    return `${JSON.stringify(cron)} is not a schedule (${messageOf(error).replace(/\.$/, '')}); ${EXPECTED}.`;
  }
}

/**
 * Which runs are due. The result is a pure function of the schedule, the last handled time, and the current time. A
 * wake-up that comes twice, late or never does not change it.
 */
export type Due = {
  /** The scheduled time to run for. Its period is the run's period, however late the run is. */
  readonly run: number | null;
  /** The newest due time that is not handled. */
  readonly newest: number | null;
};

/** A wake-up within this time counts as punctual: the program may be busy or just starting. */
export const ON_TIME_MS = 10 * 60_000;

/** Finds the due time to run for. With `missed: skip`, a time that is more than ON_TIME_MS late is not run. */
export function dueRuns(schedule: Schedule, lastRun: number, now: number): Due {
  const newest = newestTime(schedule, lastRun, now);
  const runs = newest !== null && (schedule.missed === 'once' || now - newest <= ON_TIME_MS);
  return { run: runs ? newest : null, newest };
}

/** The list of missed times keeps this many per rule (includes/schedule.lua). */
const PASSED_LISTED_MAX = 1_000;
/** Bounds the work for a rule that runs every minute and was away for a year. */
const PASSED_COUNTED_MAX = 10_000;

/**
 * The times after `after`, up to and including `upTo`: the newest of them in order, and how many come before those.
 */
export function timesPassed(
  { cron, timezone }: Times,
  after: number,
  upTo: number,
): { readonly times: readonly number[]; readonly older: number } {
  const walls = wallTimes(cron, wallOf(upTo, timezone) + STEP_MS);
  const times: number[] = [];
  let [last, older] = [upTo + 1, 0];
  while (walls.hasPrev() && times.length + older < PASSED_COUNTED_MAX) {
    const moment = momentOf(walls.prev().getTime(), timezone);
    if (moment <= after) break;
    // Two wall times may have the same moment, on the day an hour is skipped.
    if (moment >= last) continue;
    last = moment;
    if (times.length < PASSED_LISTED_MAX) times.push(moment);
    else older += 1;
  }
  return { times: times.reverse(), older };
}
