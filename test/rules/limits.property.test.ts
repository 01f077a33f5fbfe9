import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { decide, sharePot } from '../../src/rules/decide.js';
import type { Candidate } from '../../src/rules/decision.js';
import type { LimitName, Rule } from '../../src/rules/rule.js';
import { generated } from '../support/suites.js';
import { found, settingOf } from './candidates.js';
import { goodRule, ruleText } from './rule-file.js';

const KINDS = ['fixed', 'computed', 'share', 'floor'] as const;
const POT = 1_000;
const AWARDS: Readonly<Record<(typeof KINDS)[number], Record<string, string>>> = {
  fixed: { award: 'award:\n  tokens: 50' },
  computed: { award: 'award:\n  tokens: web3.score * 1.5\n  rounding: ceil', x: 'maxMissing: 100%' },
  share: { award: `award:\n  share:\n    pot: ${POT}\n    weight: web3.score`, x: 'maxMissing: 100%' },
  floor: { op: 'op: debit', award: 'award:\n  tokens: 70\n  floor: 100', x: 'maxMissing: 100%' },
};

const someFacts = fc.record({
  score: fc.oneof(
    fc.integer({ min: 0, max: 5_000 }),
    fc.double({ min: 0, max: 5_000, noNaN: true }),
    fc.constant(null),
  ),
  balance: fc.option(fc.integer({ min: -50, max: 1_000 }).map(String)),
  already: fc.boolean(),
});
const limit = fc.option(fc.integer({ min: 1, max: 3_000 }));
const someLimits = fc.record({
  perMember: limit,
  perRun: limit,
  perPeriod: limit,
  minimum: fc.option(fc.integer({ min: 1, max: 100 })),
  cut: fc.subarray<LimitName>(['perMember', 'perRun', 'perPeriod']),
});

describe('for any audience, facts and limits', () => {
  const loadAll = async () =>
    new Map(
      await Promise.all(KINDS.map(async (kind) => [kind, await goodRule(ruleText(AWARDS[kind]))] as const)),
    );

  test('payments never exceed a limit, a pot or a floor', async () => {
    const rules = await loadAll();
    fc.assert(
      fc.property(
        fc.constantFrom(...KINDS),
        fc.array(someFacts, { maxLength: 40 }),
        someLimits,
        fc.integer({ min: 0, max: 2_000 }),
        (kind, members, limits, earlier) => {
          const loaded = rules.get(kind);
          if (loaded === undefined) throw new Error(kind);
          const rule = limited(loaded.rule, limits);
          const result = decide(
            rule,
            members.map(candidate),
            settingOf(loaded, { awardedInPeriod: BigInt(earlier) }),
          );
          expect(result.decisions).toHaveLength(members.length);
          // A stopped run pays nothing, whatever its decisions are.
          if (result.stops.length > 0) return;
          const paid = result.decisions.filter(({ leftOut }) => leftOut === null);
          const sum = paid.reduce((total, { tokens }) => total + tokens, 0);
          expect(BigInt(sum)).toBe(result.tokens);
          expect(sum).toBeLessThanOrEqual(rule.limits.perRun ?? Number.POSITIVE_INFINITY);
          if (sum > 0 && rule.limits.perPeriod !== null)
            expect(sum + earlier).toBeLessThanOrEqual(rule.limits.perPeriod);
          if (sum > 0 && kind === 'share') expect(sum + earlier).toBeLessThanOrEqual(POT);
          for (const { member, tokens } of paid) {
            const facts = members[Number(member) - 1];
            expect(Number.isSafeInteger(tokens) && tokens > 0).toBe(true);
            expect(tokens).toBeLessThanOrEqual(rule.limits.perMember ?? Number.POSITIVE_INFINITY);
            expect(tokens).toBeGreaterThanOrEqual(rule.minimum ?? 1);
            expect(facts?.already).toBe(false);
            if (kind === 'floor') expect(Number(facts?.balance) - tokens).toBeGreaterThanOrEqual(100);
          }
        },
      ),
      generated(150, 2_000),
    );
  });

  test('the same input gives the same decisions', async () => {
    const rules = await loadAll();
    fc.assert(
      fc.property(fc.array(someFacts, { maxLength: 20 }), someLimits, (members, limits) => {
        const loaded = rules.get('share');
        if (loaded === undefined) throw new Error('share');
        const once = () => decide(limited(loaded.rule, limits), members.map(candidate), settingOf(loaded));
        expect(once()).toEqual(once());
      }),
      generated(25, 500),
    );
  });
});

test('shares add up to the pot, and no share is a whole point off', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
      fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 60 }),
      (pot, weights) => {
        const shares = sharePot(pot, weights.map(BigInt));
        const sum = shares.reduce((total, share) => total + BigInt(share), 0n);
        const weight = weights.reduce((total, one) => total + BigInt(one), 0n);
        expect(sum).toBe(weight === 0n ? 0n : BigInt(pot));
        if (weight === 0n) return;
        for (const [index, share] of shares.entries()) {
          const floor = (BigInt(pot) * BigInt(weights[index] ?? 0)) / weight;
          expect(BigInt(share) - floor === 0n || BigInt(share) - floor === 1n).toBe(true);
        }
      },
    ),
    generated(100, 2_000),
  );
});

function candidate(
  facts: { score: number | null; balance: string | null; already: boolean },
  index: number,
): Candidate {
  const member = memberId(String(index + 1));
  return {
    row: { member, line: index + 2, cells: [member, '1', 'true'] },
    wallet: null,
    already: facts.already ? 'b-1' : null,
    member: found({}, facts.balance),
    web3: found(facts.score === null ? {} : { score: facts.score }),
  };
}

function limited(
  rule: Rule,
  {
    perMember,
    perRun,
    perPeriod,
    minimum,
    cut,
  }: { [K in LimitName | 'minimum']: number | null } & { cut: LimitName[] },
): Rule {
  return { ...rule, limits: { perMember, perRun, perPeriod }, minimum, cut: new Set(cut) };
}
