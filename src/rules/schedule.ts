import { CronExpressionParser } from 'cron-parser';
import { messageOf } from '../core/errors/error.js';
import { momentOf, wallOf } from '../core/zones.js';

export type Schedule = {
  readonly cron: string;
  readonly timezone: string;
  readonly missed: 'skip' | 'once';
};

type Times = Pick<Schedule, 'cron' | 'timezone'>;

/**
 * The times of a schedule. cron-parser walks the wall clock as if it were UTC, and each wall time is then
 * given its one moment (see calendar.ts). Its own handling of time zones is not used: looking back, it gives
 * `30 2 * * *` twice on the day that hour comes twice and not at all on the day it is left out (5.10), and a
 * reward must be paid exactly once.
 */
function* timesAfter({ cron, timezone }: Times, after: number): Generator<number, void, undefined> {
  // The wall may be set back within the next hours; a step back makes sure that no time is jumped over.
  const times = wallTimes(cron, wallOf(after, timezone) - STEP_MS);
  let last = after;
  while (times.hasNext()) {
    const moment = momentOf(times.next().getTime(), timezone);
    if (moment <= last) continue;
    last = moment;
    yield moment;
  }
}

export function nextTime(schedule: Times, after: number): number | null {
  return timesAfter(schedule, after).next().value ?? null;
}

export function nextTimes(schedule: Times, after: number, count: number): number[] {
  const found: number[] = [];
  for (const time of timesAfter(schedule, after)) {
    if (found.length >= count) break;
    found.push(time);
  }
  return found;
}

/** The newest time of the schedule that has come, if it is later than `after`. */
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

/** More than any change of a zone's clock, less than a day. */
const STEP_MS = 3 * 3_600_000;
/** A rule that runs every minute passes 180 times within STEP_MS. */
const STEPS_MAX = 500;

/**
 * What may stand in each field. cron-parser knows more: its `H` is drawn anew at every parse, so that a schedule would
 * have other times at every look. `L` and `#` name days, which are the same whoever looks, and when.
 */
const FIELDS = [
  /^[0-9*,/-]+$/,
  /^[0-9*,/-]+$/,
  /^[0-9*,/?L-]+$/,
  /^([0-9*,/-]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)+$/i,
  /^([0-9*,/?L#-]|SUN|MON|TUE|WED|THU|FRI|SAT)+$/i,
];
const EXPECTED = 'expected five fields: minute, hour, day of month, month, day of week';

/** What is wrong with a cron text, or undefined. */
export function cronFault(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `${JSON.stringify(cron)} is no schedule; ${EXPECTED}.`;
  const odd = fields.find((field, at) => FIELDS[at]?.test(field) !== true);
  if (odd !== undefined) {
    const drawn = /H/.test(odd.replace(/THU/gi, '')) ? ' (H would be another time at every look)' : '';
    return `${JSON.stringify(cron)} is no schedule: ${JSON.stringify(odd)} cannot stand there${drawn}; ${EXPECTED}.`;
  }
  try {
    wallTimes(cron, 0).next();
    return undefined;
  } catch (error) {
    return `${JSON.stringify(cron)} is no schedule (${messageOf(error).replace(/\.$/, '')}); ${EXPECTED}.`;
  }
}

/**
 * Which runs are due is a pure function of the schedule, the last time that was dealt with, and the time
 * handed in. A wake-up that comes twice, late or never changes nothing of it.
 */
export type Due = {
  /** The scheduled time to run for; its period is the run's period, however late it is made up for. */
  readonly run: number | null;
  /** The last time that has come, and is not dealt with. */
  readonly newest: number | null;
};

/** A wake-up within this time of its schedule is on time; the program may be busy, or just starting. */
export const ON_TIME_MS = 10 * 60_000;

export function dueRuns(schedule: Schedule, lastRun: number, now: number): Due {
  const newest = newestTime(schedule, lastRun, now);
  const runs = newest !== null && (schedule.missed === 'once' || now - newest <= ON_TIME_MS);
  return { run: runs ? newest : null, newest };
}

/** The list of missed times keeps so many of a rule (includes/schedule.lua). */
const PASSED_LISTED_MAX = 1_000;
/** A rule that runs every minute and was away for a year is not walked to its beginning. */
const PASSED_COUNTED_MAX = 10_000;

/** The times after `after` up to and with `upTo`: the newest of them in order, and how many come before those. */
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
    // Two wall times may have one moment, on the day an hour is left out.
    if (moment >= last) continue;
    last = moment;
    if (times.length < PASSED_LISTED_MAX) times.push(moment);
    else older += 1;
  }
  return { times: times.reverse(), older };
}
