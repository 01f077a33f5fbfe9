import { parse } from 'lossless-json';
import { describe, expect, test } from 'vitest';
import { awardsOf, decided, found } from './candidates.js';
import { goodRule, ruleText } from './rule-file.js';

const rule = (changes: Record<string, string>, files?: Record<string, string>) =>
  goodRule(ruleText(changes), files);
const why = (result: ReturnType<typeof decided>) =>
  Object.fromEntries(result.decisions.map(({ member, leftOut }) => [member, leftOut]));

describe('conditions', () => {
  test('only those who meet it get the award', async () => {
    const result = decided(await rule({ x: 'condition: row.active' }));
    expect(awardsOf(result)).toEqual({ 101: 50, 103: 50 });
    expect(why(result)).toMatchObject({ 102: 'condition' });
    expect(result.tokens).toBe(100n);
  });

  test('the time of the run counts', async () => {
    const monday = await rule({ x: 'condition: run.weekday == 1 && run.date == "2026-11-16"' });
    expect(decided(monday).awards).toBe(3);
    expect(decided(await rule({ x: 'condition: run.weekday == 2' })).awards).toBe(0);
  });

  test('a value that is no yes or no stops the run, with the place in the rule', async () => {
    const result = decided(await rule({ x: 'condition: row.score' }));
    expect(result.stops[0]).toMatchObject({ code: 'ALM_RULE_VALUE', line: 9, column: 12 });
    expect(result.stops[0]?.message).toMatch(
      /rule\.yaml:9:12: condition on member 101: It gives 5, expected true or false/,
    );
    expect(result.awards).toBe(0);
  });
});

describe('awards', () => {
  test.each([
    ['floor', { 101: 7, 102: 10, 103: 13 }],
    ['round', { 101: 8, 102: 11, 103: 14 }],
    ['ceil', { 101: 8, 102: 11, 103: 14 }],
  ])('%s is used as stated', async (rounding, expected) => {
    const result = decided(
      await rule({ award: `award:\n  tokens: row.score * 1.5\n  rounding: ${rounding}` }),
    );
    expect(awardsOf(result)).toEqual(expected);
  });

  test('a hair of a binary fraction is not a point', async () => {
    const files = { 'audience.csv': 'member,score,active\n101,29,true\n' };
    const floor = await rule(
      { award: 'award:\n  tokens: row.score / 100.0 * 100\n  rounding: floor' },
      files,
    );
    expect(awardsOf(decided(floor))).toEqual({ 101: 29 });
    const ceil = await rule({ award: 'award:\n  tokens: row.score * 0.07 * 100\n  rounding: ceil' }, files);
    expect(awardsOf(decided(ceil))).toEqual({ 101: 203 });
  });

  test('a negative award stops the run', async () => {
    const result = decided(await rule({ award: 'award:\n  tokens: row.score - 6\n  rounding: floor' }));
    expect(result.stops[0]?.message).toMatch(/gives -1, expected a number that is not negative.*op: debit/);
  });

  test('an award of zero is left out', async () => {
    const result = decided(await rule({ award: 'award:\n  tokens: row.score - 5\n  rounding: floor' }));
    expect(why(result)).toEqual({ 101: 'zero', 102: null, 103: null });
  });

  test('facts of the realm are reckoned with exactly', async () => {
    const loaded = await rule({
      x: 'condition: member.id == 1190322117000000123',
      award: 'award:\n  tokens: web3.held * 2\n  rounding: floor',
    });
    const member = found(parse('{"id": 1190322117000000123}'));
    const result = decided(loaded, { 101: { member, web3: found(parse('{"held": 4503599627370495}')) } });
    expect(awardsOf(result)).toEqual({ 101: 9007199254740990 });
  });
});

describe('a proportional pot', () => {
  const pot = (more: Record<string, string> = {}, points = 100) =>
    rule({ award: `award:\n  share:\n    pot: ${points}\n    weight: row.score`, ...more });

  test('is shared out to the last point, largest remainders first', async () => {
    const result = decided(await pot());
    expect(awardsOf(result)).toEqual({ 101: 24, 102: 33, 103: 43 });
    expect(result.tokens).toBe(100n);
  });

  test('goes to those who meet the condition only', async () => {
    expect(awardsOf(decided(await pot({ x: 'condition: row.active' })))).toEqual({ 101: 36, 103: 64 });
  });

  test('holds only what earlier runs of the period have left', async () => {
    const result = decided(await pot(), { 101: { already: 'b-1' } }, { awardedInPeriod: 90n });
    expect(result.tokens).toBe(10n);
    expect(why(result)).toMatchObject({ 101: 'already' });
    expect(decided(await pot(), {}, { awardedInPeriod: 100n }).awards).toBe(0);
  });

  test('a cap takes from one and gives to nobody', async () => {
    const result = decided(await pot({ x: 'limits:\n  perMember: 30\n  cut: [perMember]' }));
    expect(awardsOf(result)).toEqual({ 101: 24, 102: 30, 103: 30 });
  });
});

describe('a penalty with a floor', () => {
  const penalty = () => rule({ op: 'op: debit', award: 'award:\n  tokens: 50\n  floor: 100' });
  const balance = (points: string | null) => ({ member: found({}, points) });

  test('never takes a member below it', async () => {
    const result = decided(await penalty(), {
      101: balance('500'),
      102: balance('120'),
      103: balance('100'),
    });
    expect(awardsOf(result)).toEqual({ 101: 50, 102: 20 });
    expect(why(result)).toMatchObject({ 103: 'floor' });
    expect(result.decisions[1]?.steps.join()).toMatch(/floor 100 cuts 50 to 20, as the balance is 120/);
  });

  test('leaves out whose balance is not known', async () => {
    const loaded = await rule({
      op: 'op: debit',
      award: 'award:\n  tokens: 50\n  floor: 100',
      x: 'maxMissing: 50%',
    });
    const result = decided(loaded, { 101: balance('500'), 102: balance(null), 103: balance('200') });
    expect(result.decisions[1]).toMatchObject({ leftOut: 'missing', detail: 'balance' });
    expect(result.stops).toEqual([]);
  });
});

describe('limits', () => {
  test.each([
    ['perMember', 49],
    ['perRun', 149],
    ['perPeriod', 149],
  ])('%s stops the run before anything is paid', async (name, limit) => {
    const result = decided(await rule({ x: `limits:\n  ${name}: ${limit}` }));
    expect(result.stops).toMatchObject([{ code: 'ALM_RULE_OVER_LIMIT' }]);
    expect(result.stops[0]?.message).toContain(name);
  });

  test('exactly at the limit nothing stops', async () => {
    const result = decided(await rule({ x: 'limits:\n  perMember: 50\n  perRun: 150\n  perPeriod: 150' }));
    expect(result).toMatchObject({ stops: [], awards: 3 });
  });

  test('a limit that cuts cuts the later members, and the last one in part', async () => {
    const result = decided(await rule({ x: 'limits:\n  perRun: 70\n  cut: [perRun]' }));
    expect(awardsOf(result)).toEqual({ 101: 50, 102: 20 });
    expect(why(result)).toMatchObject({ 103: 'limit' });
    expect(result.stops).toEqual([]);
  });

  test('what a cut leaves below the minimum is not paid', async () => {
    const result = decided(await rule({ x: 'limits:\n  perRun: 70\n  minimum: 30\n  cut: [perRun]' }));
    expect(awardsOf(result)).toEqual({ 101: 50 });
    expect(why(result)).toMatchObject({ 102: 'minimum' });
  });

  test('perPeriod counts what earlier runs were awarded', async () => {
    const loaded = await rule({ x: 'limits:\n  perPeriod: 200' });
    expect(decided(loaded, {}, { awardedInPeriod: 50n }).stops).toEqual([]);
    expect(decided(loaded, {}, { awardedInPeriod: 51n }).stops[0]?.message).toMatch(
      /earlier runs of the period had 51/,
    );
  });

  test('without a limit, a period pays no more than the books can add up', async () => {
    const awardedInPeriod = BigInt(Number.MAX_SAFE_INTEGER) - 150n;
    expect(decided(await rule({}), {}, { awardedInPeriod }).stops).toEqual([]);
    const over = decided(await rule({}), {}, { awardedInPeriod: awardedInPeriod + 1n });
    expect(over.stops).toMatchObject([{ code: 'ALM_RULE_OVER_LIMIT' }]);
  });

  test('the realm’s own cap for an order stops the run', async () => {
    expect(decided(await rule({}), {}, { maxTokensPerOrder: 49 }).stops[0]?.message).toMatch(
      /maxTokensPerOrder/,
    );
  });
});

describe('who is left out', () => {
  test('members without a fact are listed; too many of them stop the run', async () => {
    const loaded = (share: string) => rule({ x: `condition: web3.score > 1\nmaxMissing: ${share}` });
    const facts = {
      101: { web3: found({ score: 5 }) },
      102: { web3: found({}) },
      103: { web3: found({ score: null }) },
    };
    const few = decided(await loaded('70%'), facts);
    expect(few).toMatchObject({ awards: 1, stops: [] });
    expect(few.decisions[1]).toMatchObject({ leftOut: 'missing', detail: 'web3.score' });
    const many = decided(await loaded('60%'), facts);
    expect(many.stops).toMatchObject([{ code: 'ALM_RULE_MISSING_FACTS' }]);
    expect(many.stops[0]?.message).toMatch(/2 of 3 members lack a fact.*60%/);
  });

  test('a member whom the realm does not know is missing, too', async () => {
    const absent = { kind: 'absent', why: 'the realm does not know this member' } as const;
    const result = decided(await rule({ x: 'condition: member.level > 1' }), { 101: { member: absent } });
    expect(result.decisions[0]).toMatchObject({ leftOut: 'missing', detail: absent.why });
  });

  test('a wallet that is not in the realm leaves a member out; an undetermined one stops the run', async () => {
    const out = decided(await rule({}), { 101: { wallet: 'not-member' }, 102: { wallet: 'member' } });
    expect(out).toMatchObject({ awards: 2, stops: [] });
    const stopped = decided(await rule({}), { 101: { wallet: 'undetermined' }, 102: { wallet: 'member' } });
    expect(stopped).toMatchObject({ awards: 0, stops: [{ code: 'ALM_RULE_WALLETS' }] });
  });

  test('a member with an award of this period already, and the giver, get nothing', async () => {
    const loaded = await rule({ op: 'op: transfer\nfrom: "103"' });
    const result = decided(loaded, { 101: { already: 'b-1' } });
    expect(why(result)).toEqual({ 101: 'already', 102: null, 103: 'giver' });
  });
});
