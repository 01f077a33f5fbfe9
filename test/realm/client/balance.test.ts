import fc from 'fast-check';
import { parse } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { answerBalance, memberBalance } from '../../../src/realm/client/answer-body.js';

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

  it('of a currency that the record does not show is not readable: the default one is never taken for it', () => {
    const profile = { balancePath: null, currency: '78' };
    for (const json of [
      '{"tokenBalance":9}',
      '{"newBalance":9}',
      '{"tokenBalance":9,"balances":{}}',
      '{"tokenBalance":9,"balances":null}',
      '{"tokenBalance":9,"balances":[2]}',
      '{"balances":{"77":1}}',
      '{"78":9}',
    ])
      expect(member(json, profile)).toBeNull();
  });

  it("in the answer to a change is the default currency's unless the answer names another", () => {
    const profile = { balancePath: null, currency: '78' };
    expect(answerBalance(parse('{"newBalance":8}'), usual)).toBe('8');
    expect(answerBalance(parse('{"newBalance":8}'), profile)).toBeNull();
    expect(answerBalance(parse('{"newBalance":8,"balances":{"78":2}}'), profile)).toBe('2');
    expect(answerBalance(parse('{"newBalance":8,"balances":{"77":8}}'), profile)).toBeNull();
  });

  it('stands where the path says, with a currency as well: the operator named the place', () => {
    const profile = { balancePath: 'points.gems', currency: '78' };
    expect(member('{"points":{"gems":4},"tokenBalance":9,"balances":{"78":2}}', profile)).toBe('4');
    expect(member('{"tokenBalance":9,"balances":{"78":2}}', profile)).toBeNull();
    expect(answerBalance(parse('{"newBalance":8}'), profile)).toBeNull();
    expect(answerBalance(parse('{"newBalance":8,"points":{"gems":4}}'), profile)).toBe('4');
    expect(answerBalance(parse('{"newBalance":8}'), { balancePath: 'newBalance', currency: '78' })).toBe('8');
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
