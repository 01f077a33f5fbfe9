import { expect, test } from 'vitest';
import { readAt } from '../../src/core/zones.js';
import { readTimes } from '../../src/planning/set-times.js';

/** Europe/Berlin: 2026-03-29 has 23 hours, without 02:00 to 03:00; 2026-10-25 has 25, with that hour twice. */
const ZONE = 'Europe/Berlin';

test.each([
  ['2026-03-28T22:30:00Z', '09:00', '2026-03-29T07:00:00.000Z', 'the evening before the short day'],
  ['2026-03-29T00:30:00Z', '01:00', '2026-03-29T23:00:00.000Z', 'the short day itself, for tomorrow'],
  ['2026-03-28T23:30:00Z', '02:30', '2026-03-29T01:00:00.000Z', 'a time that the short day leaves out'],
  [
    '2026-10-24T22:30:00Z',
    '00:10',
    '2026-10-25T23:10:00.000Z',
    'the first hour of the long day, for tomorrow',
  ],
  ['2026-10-25T00:10:00Z', '02:30', '2026-10-25T00:30:00.000Z', 'the first time of two'],
  ['2026-10-25T01:10:00Z', '02:30', '2026-10-25T01:30:00.000Z', 'the second time of two'],
  ['2026-10-25T01:40:00Z', '02:30', '2026-10-26T01:30:00.000Z', 'after both'],
  ['2026-10-25T01:10:00Z', '2026-10-25 02:30', '2026-10-25T01:30:00.000Z', 'the second time, with its day'],
])('at %s, --at %s is %s: %s', (now, at, moment) => {
  const { start } = readTimes({ timezone: ZONE, name: 'town' }, { at }, Date.parse(now));
  expect(new Date(start?.at ?? 0).toISOString()).toBe(moment);
});

test.each([
  ['2026-11-20T18:00:00Z', '2026-11-20T18:00:00.000Z'],
  ['2026-11-20t18:00:07.25z', '2026-11-20T18:00:07.250Z'],
  ['2026-11-20 18:00:07.123456789+05:45', '2026-11-20T12:15:07.123Z'],
  ['2026-11-20T18:00:00-00:00', '2026-11-20T18:00:00.000Z'],
  ['2026-12-31T23:59:60Z', '2027-01-01T00:00:00.000Z'],
  ['2026-11-20T18:00:07.5', '2026-11-20T17:00:07.500Z'],
])('%s is read', (text, moment) => {
  expect(new Date(readAt(text, ZONE) ?? 0).toISOString()).toBe(moment);
});

test.each([
  '2026-11-20T18:00:00+24:00',
  '2026-11-20T18:00:00+01:60',
  '2026-02-30T18:00Z',
  '2026-11-20T18:00:60',
  '2026-11-20T18:00.5Z',
])('%s is refused', (text) => expect(readAt(text, ZONE)).toBeUndefined());
