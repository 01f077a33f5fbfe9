import fc from 'fast-check';
import { parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { TOKENS_MAX } from '../../src/core/points.js';
import { sharePot } from '../../src/rules/decide.js';
import { ROUNDINGS } from '../../src/rules/schema.js';
import { generated } from '../support/suites.js';
import { awardsOf, decided, found } from './candidates.js';
import { goodRule, ruleText } from './rule-file.js';

const ONE = { 'audience.csv': 'member,score,active\n101,5,true\n' };

/** A decimal of so many digits behind the point, as text and as a whole number of its last digit. */
const decimal = fc
  .record({
    digits: fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
    places: fc.integer({ min: 1, max: 6 }),
  })
  .map(({ digits, places }) => {
    const text = String(digits).padStart(places + 1, '0');
    return { text: `${text.slice(0, -places)}.${text.slice(-places)}`, digits, scale: 10n ** BigInt(places) };
  });

function rounded(numerator: bigint, denominator: bigint, rounding: (typeof ROUNDINGS)[number]): bigint {
  const whole = numerator / denominator;
  const rest = numerator % denominator;
  if (rounding === 'floor' || rest === 0n) return whole;
  return rounding === 'ceil' || rest * 2n >= denominator ? whole + 1n : whole;
}

const awardOf = async (expression: string, rounding: string) =>
  goodRule(ruleText({ award: `award:\n  tokens: "${expression}"\n  rounding: ${rounding}` }), ONE);

describe('awards are exact over the whole range of tokens', () => {
  test.each([
    ['row.score * 100000000.12', 'floor', 500_000_000],
    ['500000000.6', 'floor', 500_000_000],
    ['500000000.4', 'ceil', 500_000_001],
    ['9007199254740990.4', 'ceil', 9_007_199_254_740_991],
    ['9007199254740990.6', 'floor', 9_007_199_254_740_990],
    ['9007199254740989.5', 'round', 9_007_199_254_740_990],
    ['0.29 * 100', 'floor', 29],
    ['(0.1 + 0.2) * 10', 'ceil', 3],
    ['row.score / 3.0 * 3', 'floor', 5],
    ['row.score * 1.0', 'floor', 5],
  ])('%s, %s', async (expression, rounding, expected) => {
    expect(awardsOf(decided(await awardOf(expression, rounding)))).toEqual({ 101: expected });
  });

  test.each(ROUNDINGS)('%s agrees with whole-number arithmetic, or the run is stopped', async (rounding) => {
    const loaded = await awardOf('web3.count * web3.factor + web3.more', rounding);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: BigInt(TOKENS_MAX) }),
        decimal,
        decimal,
        (count, factor, more) => {
          const facts = parse(`{"count": ${count}, "factor": ${factor.text}, "more": ${more.text}}`);
          const result = decided(loaded, { 101: { web3: found(facts) } });
          const denominator = factor.scale * more.scale;
          const exact = rounded(
            count * factor.digits * more.scale + more.digits * factor.scale,
            denominator,
            rounding,
          );
          if (exact > BigInt(TOKENS_MAX)) {
            expect(result.awards).toBe(0);
            expect(result.stops[0]?.message).toMatch(/award of member 101 is .* beyond the exact range/);
          } else {
            expect(result.stops).toEqual([]);
            expect(result.tokens).toBe(exact);
          }
        },
      ),
      generated(100, 2_000),
    );
  });

  test('a number that YAML would round is read as it is written', async () => {
    const loaded = await goodRule(
      ruleText({ award: 'award:\n  tokens: 9007199254740990.4\n  rounding: ceil' }),
      ONE,
    );
    expect(awardsOf(decided(loaded))).toEqual({ 101: TOKENS_MAX });
  });

  test('fractions in the audience are exact as well', async () => {
    const loaded = await awardOf('row.score', 'floor');
    const [row] = loaded.audience.rows;
    if (row === undefined) throw new Error('no row');
    fc.assert(
      fc.property(decimal, ({ text, digits, scale }) => {
        const rows = [{ ...row, cells: ['101', text, 'true'] }];
        const result = decided({ ...loaded, audience: { ...loaded.audience, rows } });
        expect(result.tokens).toBe(digits / scale);
      }),
      generated(100, 2_000),
    );
  });

  test('shares follow weights that differ in the last of fifteen digits', () => {
    expect(sharePot(TOKENS_MAX, [TOKENS_MAX, TOKENS_MAX - 1].map(BigInt))).toEqual([
      4_503_599_627_370_496, 4_503_599_627_370_495,
    ]);
  });
});
