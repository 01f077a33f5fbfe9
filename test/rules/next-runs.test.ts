import { expect, test } from 'vitest';
import { nextRuns } from '../../src/operations/rules/before-go.js';

const berlin = { cron: '30 2 * * *', timezone: 'Europe/Berlin', missed: 'once' } as const;
const rule = { period: 'day', zone: 'Europe/Berlin' } as const;

test('the next ten runs have each their own period, also where an hour is left out or comes twice', () => {
  for (const [from, change, words] of [
    ['2027-03-25T12:00:00Z', '2027-03-28', '2027-03-28 03:00 Europe/Berlin (UTC+02:00)'],
    ['2027-10-28T12:00:00Z', '2027-10-31', '2027-10-31 02:30 Europe/Berlin (UTC+02:00)'],
  ] as const) {
    const runs = nextRuns(rule, berlin, Date.parse(from));
    expect(runs).toHaveLength(10);
    expect(new Set(runs.map(({ period }) => period)).size).toBe(10);
    expect(runs.find(({ period }) => period === change)?.words).toBe(words);
    const offsets = new Set(runs.map((run) => run.words.slice(-11)));
    expect(offsets).toEqual(new Set(['(UTC+01:00)', '(UTC+02:00)']));
  }
});
