import fc from 'fast-check';
import { parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { answerBalance, memberBalance } from '../../../src/realm/client/balance.js';

const usual = { balancePath: null, currency: null };
const member = (json: string, profile: { balancePath: string | null; currency: string | null } = usual) =>
  memberBalance(parse(json), profile);

describe('a balance', () => {
  it('is found in the usual places', () => {
    expect(member('{"newBalance":5}')).toBe('5');
    expect(member('{"tokenBalance":"-5"}')).toBe('-5');
    expect(member('{"balances":{"77":"12"}}')).toBe('12');
    expect(member('{"balances":{"77":1,"78":2}}')).toBeNull();
  });

  it("is the currency's own where the profile names one", () => {
    const profile = { balancePath: null, currency: '78' };
    expect(member('{"tokenBalance":9,"balances":{"77":1,"78":2}}', profile)).toBe('2');
    expect(member('{"tokenBalance":9,"balances":{"77":1}}', profile)).toBeNull();
  });

  it('is found at a path, and only there', () => {
    expect(
      member('{"data":[{"points":{"now":3}}]}', { balancePath: 'data.0.points.now', currency: null }),
    ).toBe('3');
    expect(member('{"tokenBalance":9}', { balancePath: 'data.now', currency: null })).toBeNull();
    expect(answerBalance(parse('{"newBalance":8}'), { balancePath: 'data.now', currency: null })).toBe('8');
  });

  it('is null and never zero where it is absent or no whole number', () => {
    for (const json of [
      '{}',
      '[]',
      '5',
      'null',
      '{"newBalance":null}',
      '{"newBalance":""}',
      '{"newBalance":"abc"}',
    ])
      expect(member(json)).toBeNull();
    for (const json of ['{"newBalance":1.5}', '{"newBalance":true}', '{"balances":{}}', '{"newBalance":1e3}'])
      expect(member(json)).toBeNull();
    expect(member('{"constructor":1}', { balancePath: 'toString.length', currency: null })).toBeNull();
  });

  it('keeps every digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n }), fc.boolean(), (balance, quoted) => {
        expect(member(`{"newBalance":${quoted ? `"${balance}"` : balance}}`)).toBe(String(balance));
      }),
    );
    expect(member('{"newBalance":5.00}')).toBe('5');
    expect(member('{"newBalance":-0}')).toBe('0');
  });
});
