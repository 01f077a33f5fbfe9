import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatRate, parseRate } from '../../src/core/profile.js';

describe('a rate is written one way', () => {
  test.each([
    ['24/min', { requests: 24, windowMs: 60_000 }, '24/min'],
    ['10/s', { requests: 10, windowMs: 1_000 }, '10/s'],
    ['500/h', { requests: 500, windowMs: 3_600_000 }, '500/h'],
    ['60/6s', { requests: 60, windowMs: 6_000 }, '60/6s'],
    [' 60 / 6 s ', { requests: 60, windowMs: 6_000 }, '60/6s'],
    ['1/100ms', { requests: 1, windowMs: 100 }, '1/100ms'],
    ['60/60s', { requests: 60, windowMs: 60_000 }, '60/min'],
    ['none', null, 'none'],
  ])('%s', (text, rate, printed) => {
    expect(parseRate(text)).toEqual({ rate });
    expect(formatRate(rate)).toBe(printed);
  });

  test.each(['', '24', '24/m', '0/min', '-1/s', '1.5/s', '10/0s', '10 per s', '1/25h', '9999999/s', 'None'])(
    'refuses %j',
    (text) => {
      expect(parseRate(text)).toHaveProperty('fault', expect.stringMatching(/^expected /));
    },
  );

  test('what is printed reads back as the same rate', () => {
    const window = fc.integer({ min: 1, max: 24 * 3_600_000 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), window, (requests, windowMs) => {
        const rate = { requests, windowMs };
        expect(parseRate(formatRate(rate))).toEqual({ rate });
      }),
    );
  });
});
