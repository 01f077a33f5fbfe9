import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isTokens, PointsSum, parseTokens, TOKENS_MAX, tokens } from '../../src/core/points.js';

describe('reading tokens', () => {
  test('takes an optional minus and digits, and nothing else', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: TOKENS_MAX }),
        fc.boolean(),
        fc.nat({ max: 3 }),
        (amount, negative, zeros) => {
          const text = `${negative ? '-' : ''}${'0'.repeat(zeros)}${amount}`;
          expect(parseTokens(text)).toEqual({ negative, amount });
        },
      ),
    );
  });

  test('what it takes is never anything but the digits it was given', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseTokens(text);
        if ('fault' in parsed) return;
        expect(text).toMatch(/^-?[0-9]+$/);
        expect(BigInt(text)).toBe(BigInt(parsed.amount) * (parsed.negative ? -1n : 1n));
      }),
    );
  });

  test.each([
    ['', 'empty'],
    ['1,000', 'thousands-separator'],
    ['1.000', 'thousands-separator'],
    ['1’000', 'thousands-separator'],
    ['5.0', 'decimal'],
    ['5,', 'decimal'],
    ['1e3', 'exponent'],
    ['1,19E+18', 'exponent'],
    ['0x10', 'hexadecimal'],
    ['0', 'zero'],
    ['-000', 'zero'],
    ['9007199254740992', 'too-large'],
    ['99999999999999999999', 'too-large'],
    ['1 2', 'blank-inside'],
    ['five', 'not-a-number'],
    ['５', 'not-a-number'],
  ])('refuses %j by name: %s', (text, fault) => {
    expect(parseTokens(text)).toEqual({ fault });
  });

  test('an amount is a positive safe integer', () => {
    for (const value of [0, -1, 1.5, Number.NaN, TOKENS_MAX + 1]) {
      expect(isTokens(value)).toBe(false);
      expect(() => tokens(value)).toThrow(RangeError);
    }
    expect(tokens(TOKENS_MAX)).toBe(TOKENS_MAX);
  });
});

test('a sum is exact, however large it grows', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: TOKENS_MAX - 100, max: TOKENS_MAX })),
      ),
      (amounts) => {
        const sum = new PointsSum();
        for (const amount of amounts) sum.add(tokens(amount));
        expect(sum.total).toBe(amounts.reduce((total, amount) => total + BigInt(amount), 0n));
      },
    ),
  );
});
