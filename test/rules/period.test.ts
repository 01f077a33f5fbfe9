import { expect, test } from 'vitest';
import { awardReference, parseAward } from '../../src/core/reference.js';
import { readAt } from '../../src/core/zones.js';
import { hadBegun, periodName } from '../../src/rules/calendar.js';
import { PERIODS } from '../../src/rules/schema.js';

const at = (iso: string) => Date.parse(iso);

test.each([
  ['2024-12-30T12:00:00Z', '2025-W01'],
  ['2026-12-31T12:00:00Z', '2026-W53'],
  ['2027-01-03T12:00:00Z', '2026-W53'],
  ['2027-01-04T12:00:00Z', '2027-W01'],
  ['2028-02-29T12:00:00Z', '2028-W09'],
])('%s lies in ISO week %s', (iso, week) => {
  expect(periodName('week', at(iso), 'UTC')).toBe(week);
});

test('a period is that of the wall, not of UTC', () => {
  const lateSunday = at('2026-11-15T23:30:00Z');
  expect(periodName('week', lateSunday, 'UTC')).toBe('2026-W46');
  expect(periodName('week', lateSunday, 'Europe/Berlin')).toBe('2026-W47');
  expect(periodName('day', lateSunday, 'America/New_York')).toBe('2026-11-15');
  expect(periodName('month', at('2026-12-01T03:00:00Z'), 'America/New_York')).toBe('2026-11');
  expect(periodName('once', lateSunday, 'UTC')).toBe('once');
});

test.each([
  ['2026-11', '2026-11-20T09:00:00Z', '2026-11-10T00:00:00Z', true],
  ['2026-12', '2026-12-01T09:00:00Z', '2026-11-10T00:00:00Z', false],
  ['2026-W46', '2026-11-09T09:00:00Z', '2026-11-20T00:00:00Z', true],
  ['once', '2026-12-01T09:00:00Z', '2026-11-10T00:00:00Z', true],
])('whether period %s of a run at %s had begun by %s: %s', (period, run, moment, begun) => {
  expect(hadBegun({ period, at: at(run), zone: 'Europe/Berlin' }, at(moment))).toBe(begun);
});

test('what a run writes into its references is read as an award, whatever the day', () => {
  for (let day = at('2026-12-20T12:00:00Z'); day < at('2028-03-10T00:00:00Z'); day += 24 * 3_600_000)
    for (const one of PERIODS) {
      const period = periodName(one, day, 'UTC');
      const award = parseAward(awardReference('thanks', period, '7'));
      expect(award, period).toEqual({ account: `thanks:${period}`, member: '7' });
    }
});

test('every hour of the days of change has a day, and each day comes once', () => {
  for (const zone of ['Europe/Berlin', 'America/New_York']) {
    const days: string[] = [];
    for (let hour = at('2026-03-06T00:00:00Z'); hour < at('2026-11-05T00:00:00Z'); hour += 3_600_000) {
      const day = periodName('day', hour, zone);
      if (days.at(-1) !== day) days.push(day);
    }
    expect(days).toEqual([...new Set(days)].sort());
    expect(days).toHaveLength(new Set(days).size);
  }
});

test('--at reads a day, a wall time, or a time with its offset, and nothing else', () => {
  expect(readAt('2026-11-16', 'Europe/Berlin')).toBe(at('2026-11-15T23:00:00Z'));
  expect(readAt('2026-11-16T09:30', 'America/New_York')).toBe(at('2026-11-16T14:30:00Z'));
  expect(readAt('2026-11-16T09:30:15+02:00', 'UTC')).toBe(at('2026-11-16T07:30:15Z'));
  expect(readAt('2028-02-29', 'UTC')).toBe(at('2028-02-29T00:00:00Z'));
  for (const wrong of ['2026-02-29', '16.11.2026', 'monday', '2026-11-16T25:00', ''])
    expect(readAt(wrong, 'UTC')).toBeUndefined();
});
