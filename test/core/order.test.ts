import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from '../../src/core/decide.js';
import { batchId, isBatchId, isMemberId, memberId, orderId, parseOrderId } from '../../src/core/ids.js';
import { contentOf, effectsOf, membersOf, type Order, signedTokens } from '../../src/core/order.js';
import { tokens } from '../../src/core/points.js';
import { SPENDING_STATES } from '../../src/core/states.js';

const ONE = memberId('119000000000000001');
const TWO = memberId('2');
const CREDIT: Order = { op: 'credit', member: ONE, recipient: null, tokens: tokens(5) };
const DEBIT: Order = { op: 'debit', member: ONE, recipient: null, tokens: tokens(5) };
const TRANSFER: Order = { op: 'transfer', member: ONE, recipient: TWO, tokens: tokens(5) };

describe('an order', () => {
  test('says on the wire what it means: a debit subtracts, the others are positive', () => {
    expect([CREDIT, DEBIT, TRANSFER].map(signedTokens)).toEqual([5, -5, 5]);
  });

  test('moves exactly its members, and a transfer moves no points in or out of the realm', () => {
    for (const order of [CREDIT, DEBIT, TRANSFER])
      expect(effectsOf(order).map(({ member }) => member)).toEqual(membersOf(order));
    expect(effectsOf(TRANSFER).reduce((sum, { delta }) => sum + delta, 0n)).toBe(0n);
    expect(effectsOf(DEBIT)[0]?.delta).toBe(-5n);
  });

  test('has one spelling of its content: equal text means equal order', () => {
    const spellings = [
      CREDIT,
      DEBIT,
      TRANSFER,
      { ...CREDIT, tokens: tokens(51) },
      { ...CREDIT, member: TWO },
    ].map(contentOf);
    expect(new Set(spellings).size).toBe(5);
    expect(contentOf({ ...TRANSFER })).toBe(contentOf(TRANSFER));
  });
});

describe('ids', () => {
  test('a member id is digits and nothing else, kept as text', () => {
    for (const text of ['0', '1', '119000000000000001', '9'.repeat(20)]) expect(isMemberId(text)).toBe(true);
    for (const text of ['', '-1', '+1', '1.0', '1e3', ' 1', '1 ', '１', '9'.repeat(21), '0x1', '007', '00'])
      expect(isMemberId(text)).toBe(false);
    expect(() => memberId('x')).toThrow(RangeError);
  });

  test('a batch id is a safe folder name', () => {
    for (const text of ['abc', 'spring-2026', 'a.b_c', '0'.repeat(64)]) expect(isBatchId(text)).toBe(true);
    for (const text of ['', 'ab', '.hidden', '-x-', 'a/b', 'a..b', 'ABC', 'a b', '0'.repeat(65), 'a\nb'])
      expect(isBatchId(text)).toBe(false);
    expect(() => batchId('../..')).toThrow(RangeError);
  });

  test('an order id reads back as batch and index, also when the batch’s name looks like one', () => {
    const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{2,20}$/).filter(isBatchId);
    fc.assert(
      fc.property(name, fc.integer({ min: 1, max: 999_999_999 }), (batch, index) => {
        expect(parseOrderId(orderId(batchId(batch), index))).toEqual({ batch, index });
      }),
    );
    for (const text of ['', 'abc', 'abc-', 'abc-0', 'abc-01', 'abc-1x', '-1', 'a/b-1'])
      expect(parseOrderId(text)).toBeUndefined();
  });
});

describe('states', () => {
  test('a reference is spent while its order may still be, or was, paid', () => {
    expect([...SPENDING_STATES].sort()).toEqual(['doubt', 'paid', 'planned', 'sending', 'unknown']);
  });
});

describe('backoff', () => {
  const settings = { backoffMs: 100, backoffMaxMs: 5_000 };

  test('grows to its ceiling, jittered over the whole interval, and never beyond', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 2_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (tries, random) => {
          const ms = backoffMs(tries, settings, () => random);
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(Math.min(5_000, 100 * 2 ** tries));
          expect(Number.isInteger(ms)).toBe(true);
        },
      ),
    );
    expect([0, 1, 2, 9].map((tries) => backoffMs(tries, settings, () => 1))).toEqual([100, 200, 400, 5_000]);
  });
});
