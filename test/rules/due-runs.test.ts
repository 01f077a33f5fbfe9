import { describe, expect, test } from 'vitest';
import { momentOf, spellMoment } from '../../src/core/zones.js';
import {
  cronFault,
  dueRuns,
  nextTime,
  ON_TIME_MS,
  type Schedule,
  timesPassed,
} from '../../src/rules/schedule.js';

const at = (iso: string) => Date.parse(iso);
const schedule = (cron: string, timezone: string, missed: 'skip' | 'once' = 'once'): Schedule => ({
  cron,
  timezone,
  missed,
});

/** All times of a schedule between two moments. */
function times(of: Schedule, from: string, to: string): string[] {
  const found: string[] = [];
  for (let time = nextTime(of, at(from)); time !== null && time < at(to); time = nextTime(of, time))
    found.push(new Date(time).toISOString());
  return found;
}

/** What a scheduler that looks every `stepMinutes` would run. */
function runs(of: Schedule, from: string, to: string, stepMinutes: number): string[] {
  const ran: string[] = [];
  let last = at(from);
  for (let now = at(from); now < at(to); now += stepMinutes * 60_000) {
    const due = dueRuns(of, last, now);
    if (due.run === null) continue;
    last = due.run;
    ran.push(new Date(due.run).toISOString());
  }
  return ran;
}

describe('a run at 02:30 happens exactly once on the days of change', () => {
  test.each([
    ['Europe/Berlin, the hour is left out', 'Europe/Berlin', '2026-03-29', '2026-03-29T01:00:00.000Z'],
    ['Europe/Berlin, the hour comes twice', 'Europe/Berlin', '2026-10-25', '2026-10-25T00:30:00.000Z'],
    ['America/New_York, the hour is left out', 'America/New_York', '2026-03-08', '2026-03-08T07:00:00.000Z'],
    [
      'America/New_York, an hour before it comes twice',
      'America/New_York',
      '2026-11-01',
      '2026-11-01T07:30:00.000Z',
    ],
  ])('%s', (_, zone, day, expected) => {
    const daily = schedule('30 2 * * *', zone);
    const before = new Date(at(`${day}T00:00:00Z`) - 36 * 3_600_000).toISOString();
    const behind = new Date(at(`${day}T00:00:00Z`) + 60 * 3_600_000).toISOString();
    const onTheDay = (all: string[]) => all.filter((time) => spellMoment(at(time), zone).startsWith(day));
    expect(onTheDay(times(daily, before, behind))).toEqual([expected]);
    expect(onTheDay(runs(daily, before, behind, 17))).toEqual([expected]);
  });

  test('01:30 in New York, which comes twice there, is run at the first', () => {
    const daily = schedule('30 1 * * *', 'America/New_York');
    expect(times(daily, '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z')).toEqual([
      '2026-11-01T05:30:00.000Z',
    ]);
    expect(runs(daily, '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', 3)).toEqual([
      '2026-11-01T05:30:00.000Z',
    ]);
  });

  test('a run every half hour neither doubles nor goes back in time on either day', () => {
    for (const [from, to] of [
      ['2026-03-28T20:00:00Z', '2026-03-29T06:00:00Z'],
      ['2026-10-24T20:00:00Z', '2026-10-25T06:00:00Z'],
    ] as const) {
      const found = times(schedule('*/30 * * * *', 'Europe/Berlin'), from, to);
      expect(found).toEqual([...new Set(found)].sort());
      expect(found.length).toBeGreaterThan(15);
    }
  });
});

describe('leap days', () => {
  test.each(['Europe/Berlin', 'America/New_York'])('29 February comes in leap years only (%s)', (zone) => {
    const found = times(schedule('0 12 29 2 *', zone), '2026-01-01T00:00:00Z', '2033-01-01T00:00:00Z');
    expect(found.map((time) => spellMoment(at(time), zone).slice(0, 16))).toEqual([
      '2028-02-29 12:00',
      '2032-02-29 12:00',
    ]);
  });

  test('the day after 28 February is the 29th in a leap year and the 1st of March otherwise', () => {
    const daily = schedule('0 0 * * *', 'Europe/Berlin');
    expect(times(daily, '2028-02-28T12:00:00Z', '2028-03-01T12:00:00Z')).toHaveLength(2);
    expect(times(daily, '2026-02-28T12:00:00Z', '2026-03-01T12:00:00Z')).toHaveLength(1);
  });
});

describe('missed runs', () => {
  const monday = (missed: 'skip' | 'once') => schedule('0 9 * * 1', 'UTC', missed);
  const lastMonday = at('2026-11-02T09:00:00Z');

  test('nothing is due before its time, and the moment itself is due', () => {
    expect(dueRuns(monday('once'), lastMonday, at('2026-11-09T08:59:59.999Z')).run).toBeNull();
    expect(dueRuns(monday('once'), lastMonday, at('2026-11-09T09:00:00Z')).run).toBe(
      at('2026-11-09T09:00:00Z'),
    );
  });

  test('once: a missed week is made up for, with the time it was scheduled for', () => {
    const due = dueRuns(monday('once'), lastMonday, at('2026-11-11T15:00:00Z'));
    expect(due).toMatchObject({ run: at('2026-11-09T09:00:00Z') });
  });

  test('once: of three missed weeks only the last is made up for, and the others passed', () => {
    const due = dueRuns(monday('once'), lastMonday, at('2026-11-25T15:00:00Z'));
    expect(due).toMatchObject({ run: at('2026-11-23T09:00:00Z') });
    expect(timesPassed(monday('once'), lastMonday, (due.run ?? 0) - 1)).toEqual({
      times: [at('2026-11-09T09:00:00Z'), at('2026-11-16T09:00:00Z')],
      older: 0,
    });
  });

  test('skip: a missed week stays missed, and the next Monday runs', () => {
    const policy = monday('skip');
    expect(dueRuns(policy, lastMonday, at('2026-11-11T15:00:00Z'))).toMatchObject({ run: null });
    expect(dueRuns(policy, lastMonday, at('2026-11-16T09:00:30Z')).run).toBe(at('2026-11-16T09:00:00Z'));
  });

  test('skip: a wake-up that is a little late is not a miss', () => {
    const late = at('2026-11-09T09:00:00Z') + ON_TIME_MS;
    expect(dueRuns(monday('skip'), lastMonday, late).run).toBe(at('2026-11-09T09:00:00Z'));
    expect(dueRuns(monday('skip'), lastMonday, late + 1).run).toBeNull();
  });

  test('asked again after the run was noted, nothing is due', () => {
    const now = at('2026-11-11T15:00:00Z');
    const first = dueRuns(monday('once'), lastMonday, now);
    expect(dueRuns(monday('once'), first.run ?? 0, now)).toMatchObject({ run: null });
  });

  test('a rule that runs every minute and was away for a year is answered at once', () => {
    const started = process.cpuUsage();
    const due = dueRuns(
      schedule('* * * * *', 'Europe/Berlin'),
      at('2025-11-01T00:00:00Z'),
      at('2026-11-01T00:00:30Z'),
    );
    expect(due.run).toBe(at('2026-11-01T00:00:00Z'));
    const passed = timesPassed(
      schedule('* * * * *', 'Europe/Berlin'),
      at('2025-11-01T00:00:00Z'),
      due.run ?? 0,
    );
    expect([passed.times.length, passed.older, passed.times.at(-1)]).toEqual([1_000, 9_000, due.run]);
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
  });

  test.each([
    ['*/30 * * * *', '2026-03-28T20:00:00Z', '2026-03-29T06:00:00Z'],
    ['*/30 * * * *', '2026-10-24T20:00:00Z', '2026-10-25T06:00:00Z'],
    ['30 2 * * *', '2026-03-20T00:00:00Z', '2026-04-05T00:00:00Z'],
    ['30 2 * * *', '2026-10-20T00:00:00Z', '2026-10-30T00:00:00Z'],
    ['15 0 * * 0', '2026-09-01T00:00:00Z', '2026-12-01T00:00:00Z'],
  ])(
    '%s from %s: the times that passed are the times of the schedule, on days of 23 and 25 hours',
    (cron, from, to) => {
      const berlin = schedule(cron, 'Europe/Berlin');
      const { times: passed } = timesPassed(berlin, at(from), at(to) - 1);
      expect(passed.map((time) => new Date(time).toISOString())).toEqual(times(berlin, from, to));
      expect(passed.length).toBeGreaterThan(9);
    },
  );
});

describe('cron nonsense', () => {
  test.each([
    '',
    'every monday',
    '61 * * * *',
    '* * * *',
    '0 0 9 * * 1',
    '0 9 31 2 *',
    '@weekly',
    '0 9 * * 8',
    'H 9 * * *',
    '0 H(1-3) * * *',
    '0 9 * * THUH',
    '0 9 * MARH *',
    '? ? * * *',
    '0 9 15W * *',
    '0 9 LW * *',
  ])('%j is refused with what was expected', (cron) => {
    expect(cronFault(cron)).toMatch(/expected five fields/);
  });

  test.each(['0 9 * * 1', '*/15 8-18 * * MON-FRI', '0 0 1 1,7 *', '30 2 * * 0', '0 9 * * 7'])(
    '%j is fine',
    (cron) => {
      expect(cronFault(cron)).toBeUndefined();
    },
  );

  test('the fault of H, which draws its time anew at every look, names it', () => {
    expect(cronFault('H 9 * * *')).toMatch(
      /"H" is not allowed there \(H would be another time at each reading\)/,
    );
    expect(cronFault('0 9 * * THU')).toBeUndefined();
  });

  test.each([
    ['0 9 L * *', ['2026-01-31', '2026-02-28', '2026-03-31']],
    ['0 9 * * 5L', ['2026-01-30', '2026-02-27', '2026-03-27']],
    ['0 9 * * MON#1', ['2026-01-05', '2026-02-02', '2026-03-02']],
    ['0 9 ? * 1#1', ['2026-01-05', '2026-02-02', '2026-03-02']],
  ])('%s is the same days whoever looks, and when', (cron, days) => {
    expect(cronFault(cron)).toBeUndefined();
    const found = days.map((day) => `${day}T09:00:00.000Z`);
    const of = schedule(cron, 'UTC');
    expect(times(of, '2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z')).toEqual(found);
    expect(runs(of, '2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z', 12 * 60)).toEqual(found);
  });
});

test('every wall time has exactly one moment, also in zones with half-hour changes', () => {
  const wall = Date.UTC(2026, 9, 4, 2, 15);
  expect(spellMoment(momentOf(wall, 'Australia/Lord_Howe'), 'Australia/Lord_Howe')).toBe(
    '2026-10-04 02:30 Australia/Lord_Howe',
  );
});
