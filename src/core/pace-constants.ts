/**
 * The numbers of the pace, in one place: the scripts get them as the table `PACE` (ledger/lua-scripts.ts), the processes import
 * them here, and docs/pace.md shows them (test/docs/pace.test.ts holds it equal).
 */
type Constant = { readonly value: number; readonly unit: string; readonly why: string };

export const PACE_CONSTANTS = {
  LATE_MIN_MS: {
    value: 50,
    unit: 'ms',
    why: 'lateness that may always be caught up with: timers and round trips are late',
  },
  LATE_RESTED_SHARE: {
    value: 0.125,
    unit: 'of a window',
    why: 'lateness after a rest; idle time is not saved up',
  },
  LATE_RESTED_MAX_MS: { value: 1000, unit: 'ms', why: 'the most of it' },
  LATE_WAITING_SHARE: {
    value: 0.4,
    unit: 'of a window',
    why: 'lateness of requests that were kept waiting: a machine that stood still for a moment',
  },
  LATE_WAITING_MAX_MS: { value: 10_000, unit: 'ms', why: 'the most of it' },
  WAITING_NOTED_MS: { value: 1000, unit: 'ms', why: 'that a request was kept waiting is noted to a second' },
  REST_MS: {
    value: 10_000,
    unit: 'ms',
    why: 'a longer gap between two requests is a rest, which counts as nothing that was allowed and not used',
  },
  SLOTS_KEPT_MAX: {
    value: 2_000_000,
    unit: 'slots',
    why: 'no limit is larger than a million; more are never kept',
  },
  SLOTS_FORGOTTEN_AT_ONCE: {
    value: 1000,
    unit: 'slots',
    why: 'the store is not held up by a million of them',
  },
  LOOK_AHEAD_MAX: {
    value: 1000,
    unit: 'slots',
    why: 'where far more than the limit are in the window, the wait is looked up step by step',
  },
  FRESH_MS: {
    value: 10_000,
    unit: 'ms',
    why: 'a process may be frozen before it hears of its slots: older ones do not leave',
  },
  WAIT_STEP_MS: {
    value: 200,
    unit: 'ms',
    why: 'a wait is cut into steps, so that a pause or a shutdown is noticed',
  },
  SLOTS_AT_ONCE: { value: 32, unit: 'slots', why: 'one question of a process asks for as many at most' },
  FREE_MS: {
    value: 250,
    unit: 'ms',
    why: 'without a limit a process asks again after that: so late it may learn what another one heard',
  },
  TOLD_A_WINDOW: {
    value: 50,
    unit: 'notes',
    why: 'a process tells what headers say so often in a window, and any news',
  },
  UNLIMITED_WINDOW_MS: {
    value: 1000,
    unit: 'ms',
    why: 'the window of a realm without a rate; it only spaces what is told',
  },
  WINDOW_ROUNDED_MS: { value: 1000, unit: 'ms', why: 'headers round a window up to whole seconds' },
  NAMED_WINDOWS: {
    value: 2,
    unit: 'windows',
    why: 'a limit that headers named, and others that they showed, are known for so long',
  },
  OTHERS_NEW_SHARE: {
    value: 0.3,
    unit: 'of the estimate',
    why: 'the part of an estimate of other clients that the newest answer makes',
  },
  OTHERS_SHARE: { value: 0.15, unit: 'of the limit', why: 'fewer requests of others are jitter' },
  OTHERS_MIN: { value: 3, unit: 'requests', why: 'and so are fewer than these' },
  SLACK_MIN: {
    value: 2,
    unit: 'requests',
    why: 'counts that differ by no more are the same: some are on their way',
  },
  SLACK_MS: { value: 10, unit: 'ms of requests', why: 'and at a high rate by so many more' },
  SAME_COUNT: {
    value: 2,
    unit: 'refusals',
    why: 'at the same count: a sliding window or a bucket; strays hardly imitate it',
  },
  SAME_INTERVAL: {
    value: 3,
    unit: 'intervals',
    why: 'with as many requests in each: a window with a fixed beginning',
  },
  AS_MANY_EACH: {
    value: 50,
    unit: 'requests',
    why: 'intervals are the same where they differ by one request, and one more for each so many',
  },
  PASSED_NEAR_MIN: {
    value: 2,
    unit: 'requests',
    why: 'so close to a suspected count a request that passes speaks against it',
  },
  PASSED_NEAR_MS: { value: 5, unit: 'ms of requests', why: 'and at a high rate by so many more' },
  LITTLE_SHARE: {
    value: 0.25,
    unit: 'of the limit',
    why: 'refused twice with fewer in the window: the realm refuses all for a while',
  },
  DOUBTED_AT: {
    value: 2,
    unit: 'refusals',
    why: 'well below a believed limit, or although it is kept to: it is given up',
  },
  LONG_WINDOW_MS: {
    value: 10_000,
    unit: 'ms',
    why: 'in a longer window one refusal more is asked for: a wrong belief costs more there',
  },
  TRY_AFTER_MIN: {
    value: 2,
    unit: 'windows',
    why: 'a limit is tried again after so many, where a refusal costs little',
  },
  TRY_AFTER_MAX: {
    value: 8.4,
    unit: 'windows',
    why: 'and at the latest: the whole rate is found within ten',
  },
  TRIES_PER_MILLE: { value: 5, unit: 'of a thousand', why: 'at most so many requests are tries' },
  MORE_WITHIN: {
    value: 0.3,
    unit: 'of a window',
    why: 'a try adds requests one by one for so long; a whole window with all of them follows',
  },
  TRIED_FOR: {
    value: 1.3,
    unit: 'windows',
    why: 'by then a window with a fixed beginning has come to its end',
  },
  WARY_WINDOWS: { value: 30, unit: 'windows', why: 'strays were about, so that more is asked for' },
  REFUSED_KEPT: { value: 64, unit: 'slots', why: 'refusals that are remembered' },
  KEPT_MS: {
    value: 86_400_000,
    unit: 'ms',
    why: 'what was learnt is forgotten when nobody has heard of it for so long',
  },
  KEPT_WINDOWS: { value: 100, unit: 'windows', why: 'or for so many, where that is longer' },
} as const satisfies Readonly<Record<string, Constant>>;

type Name = keyof typeof PACE_CONSTANTS;

export const PACE: { readonly [name in Name]: number } = Object.fromEntries(
  Object.entries(PACE_CONSTANTS).map(([name, { value }]) => [name, value]),
) as { readonly [name in Name]: number };

/** As the scripts have them. */
export function paceConstantsLua(): string {
  const fields = Object.entries(PACE).map(([name, value]) => `  ${name} = ${value},\n`);
  return `--- Made from core/pace-constants.ts.\nlocal PACE = {\n${fields.join('')}}\n`;
}
