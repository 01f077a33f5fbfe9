import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  endOfWork,
  leavesNothing,
  parseQuietSpan,
  type QuietHours,
  quietUntil,
} from '../../src/core/quiet-hours.js';
import { spellMoment } from '../../src/core/zones.js';

function quiet(zone: string, ...texts: string[]): QuietHours {
  const spans = texts.flatMap((text) => {
    const parsed = parseQuietSpan(text);
    if ('fault' in parsed) throw new Error(parsed.fault);
    return parsed.spans;
  });
  return { zone, texts, spans };
}
const BERLIN = 'Europe/Berlin';
const until = (hours: QuietHours, at: string) => {
  const end = quietUntil(hours, Date.parse(at));
  return end === null ? null : spellMoment(end, hours.zone);
};

describe('quiet hours', () => {
  test('last over midnight, by the wall of the zone', () => {
    const night = quiet(BERLIN, '22:00-07:00');
    expect(until(night, '2026-11-16T20:59:00Z')).toBeNull();
    expect(until(night, '2026-11-16T21:00:00Z')).toBe('2026-11-17 07:00 Europe/Berlin');
    expect(until(night, '2026-11-17T05:59:59Z')).toBe('2026-11-17 07:00 Europe/Berlin');
    expect(until(night, '2026-11-17T06:00:00Z')).toBeNull();
  });

  test('are an hour longer or shorter where the clocks change in them', () => {
    const night = quiet(BERLIN, '22:00-07:00');
    const lasts = (from: string) =>
      ((quietUntil(night, Date.parse(from)) ?? 0) - Date.parse(from)) / 3_600_000;
    expect(lasts('2026-10-24T20:00:00Z')).toBe(10);
    expect(lasts('2026-03-28T21:00:00Z')).toBe(8);
  });

  test('that end or begin in the hour which comes twice last as long as the wall shows them, and are at once known', () => {
    const late = quiet(BERLIN, '22:00-02:30');
    const began = performance.now();
    for (const at of ['2026-10-25T00:29:00Z', '2026-10-25T00:45:00Z', '2026-10-25T01:29:00Z'])
      expect(quietUntil(late, Date.parse(at))).toBe(Date.parse('2026-10-25T01:30:00Z'));
    expect(until(late, '2026-10-25T01:30:00Z')).toBeNull();
    const early = quiet(BERLIN, '02:15-06:00');
    for (const at of ['2026-10-25T00:20:00Z', '2026-10-25T01:05:00Z'])
      expect(until(early, at)).toBe('2026-10-25 06:00 Europe/Berlin');
    expect(performance.now() - began).toBeLessThan(2_000);
  });

  test('of a weekend and of the nights around it are one', () => {
    const hours = quiet('UTC', '22:00-07:00', 'fri 18:00-mon 06:00');
    expect(until(hours, '2026-11-20T18:00:00Z')).toBe('2026-11-23 07:00 UTC');
    expect(until(hours, '2026-11-20T17:59:00Z')).toBeNull();
  });

  test.each([
    '',
    '22-7',
    '24:00-07:00',
    '22:60-07:00',
    'fri 18:00-08:00',
    'xyz 18:00-mon 08:00',
    '07:00-07:00',
  ])('refuse %j with an example', (text) => {
    expect(parseQuietSpan(text)).toMatchObject({ fault: expect.stringContaining('22:00-07:00') });
  });

  test('that leave nothing of the week are known', () => {
    expect(leavesNothing(quiet('UTC', '00:00-12:00', '12:00-00:00'))).toBe(true);
    expect(leavesNothing(quiet('UTC', '00:00-12:00', '12:01-00:00'))).toBe(false);
  });

  test('work rests in them: no moment of it lies in any, and its loud time is what it takes', () => {
    const hours = quiet(BERLIN, '22:00-07:00', 'sat 00:00-mon 00:00');
    const start = Date.parse('2026-10-20T00:00:00Z');
    const QUARTER = 15 * 60_000;
    fc.assert(
      fc.property(fc.nat(14 * 24 * 4), fc.nat(30 * 4), (offset, quarters) => {
        const begin = start + offset * QUARTER;
        const end = endOfWork(hours, begin, quarters * QUARTER);
        let loud = 0;
        for (let at = begin; at < end; at += QUARTER) if (quietUntil(hours, at) === null) loud += 1;
        expect(loud).toBe(quarters);
        if (quarters > 0) expect(quietUntil(hours, end - 1)).toBeNull();
      }),
      { numRuns: 12 },
    );
  });
});
