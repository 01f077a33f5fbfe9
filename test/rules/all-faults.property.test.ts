import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generated } from '../support/suites.js';
import { faultsOf, ruleText } from './rule-file.js';

/** Faults that have nothing to do with each other, each in a field of its own. */
const FAULTS: readonly Readonly<Record<string, string>>[] = [
  { name: '' },
  { realm: '' },
  { reason: '' },
  { period: 'period: fortnight' },
  { audience: 'audience:\n  file: twice.csv' },
  { audience: '' },
  { award: 'award:\n  tokens: row.score * \n  rounding: floor' },
  { award: 'award:\n  tokens: row.score * 1.5' },
  { award: 'award:\n  share: { pot: many, weight: row.score + }' },
  { award: 'award:\n  tokens: 5\n  floor: 10\n  rouding: floor' },
  { award: '' },
  { condition: 'condition: row.active &&' },
  { condition: 'condition: run.moon == 1' },
  { schedule: 'schedule:\n  cron: every monday\n  timezone: Europe/Nowhere' },
  { op: 'op: transfer' },
  { limits: 'limits:\n  perMember: none\n  cut: [perPeriod]' },
  { timezone: 'timezone: Mars/Base' },
  { maxMissing: 'maxMissing: lots' },
];
const FILES = { 'twice.csv': 'member,score,active\n101,5,true\n101,6,true\n' };

const messages = async (changes: Readonly<Record<string, string>>) =>
  (await faultsOf(ruleText(changes), FILES)).map(({ code, message }) => `${code} ${message}`);

test('every fault of a rule is listed, whatever else is wrong with it or missing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...FAULTS], { minLength: 2, maxLength: 6 }), async (chosen) => {
      const together: Record<string, string> = Object.assign({}, ...chosen);
      // One field cannot be wrong in two ways.
      const kept = chosen.filter((one) =>
        Object.entries(one).every(([name, text]) => together[name] === text),
      );
      const all = await messages(together);
      for (const one of kept) for (const message of await messages(one)) expect(all).toContain(message);
      expect(new Set(all).size).toBe(all.length);
    }),
    generated(40, 120),
  );
});

test('a missing field hides neither a bad time zone, nor a bad expression, nor a bad audience', async () => {
  const all = await messages({
    reason: '',
    timezone: 'timezone: Mars/Base',
    condition: 'condition: row.nothing',
    op: 'op: transfer',
    audience: 'audience:\n  file: nowhere.csv',
  });
  expect(all).toEqual([
    expect.stringMatching(/reason: is missing/),
    expect.stringMatching(/Mars/),
    expect.stringMatching(/from: is missing/),
    expect.stringMatching(/no file "nowhere.csv"/),
  ]);
});
