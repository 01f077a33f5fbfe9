import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ORDER_STATES } from '../../src/core/states.js';
import {
  CODE_OF_STATE,
  decodeRecord,
  encodeRecord,
  NEVER_SENT,
  STATE_CODES,
} from '../../src/ledger/record.js';

const SETTLED_CODES = ['w', 'P', 'R', 'X', 'u', 'D', 'd', 'i', 'c'] as const;
const counts = fc.nat({ max: 1_000_000 });
const record = fc.record({
  code: fc.constantFrom(...SETTLED_CODES),
  keyNumber: counts,
  attempts: counts,
  tries: counts,
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  balance: fc.option(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String)),
  sentAt: fc.option(fc.nat({ max: 4e12 })),
  tookMs: fc.option(fc.nat({ max: 1e9 })),
  evidence: fc.option(fc.constantFrom('answer', 'key', 'readback', 'operator' as const)),
});

describe('an order record', () => {
  test('reads back as it was written, exactly', () => {
    fc.assert(
      fc.property(record, (value) => {
        const { session, nonce, marks, replacedBy, ...read } = decodeRecord(encodeRecord(value));
        expect(read).toEqual(value);
        expect([session, nonce, marks, replacedBy]).toEqual([null, null, [], null]);
      }),
    );
  });

  test('of an order paid at its first attempt takes few bytes', () => {
    const text = encodeRecord({
      ...NEVER_SENT,
      code: 'P',
      attempts: 1,
      status: 200,
      balance: '1200',
      sentAt: Date.UTC(2026, 2, 1),
      tookMs: 80,
      evidence: 'answer',
    });
    expect(text.length).toBeLessThanOrEqual(41);
  });

  test('that is not there means planned and never sent', () => {
    expect(decodeRecord(null)).toBe(NEVER_SENT);
    expect(decodeRecord(undefined)).toBe(NEVER_SENT);
  });

  test('of an order being sent tells whose attempt it is', () => {
    expect(decodeRecord('s|2|3|1|session-1|nonce-1|loyw3v28||404|')).toMatchObject({
      code: 's',
      keyNumber: 2,
      attempts: 3,
      session: 'session-1',
      nonce: 'nonce-1',
      status: null,
    });
  });

  test.each([
    ['', [], null],
    ['d', ['discarded'], null],
    ['r12', ['replaced'], '12'],
    ['dr12', ['discarded', 'replaced'], '12'],
  ])('with the marks %j says what a person did to it', (marks, expected, by) => {
    expect(decodeRecord(`X|1|3|3|||loyw3v28|2|o|${marks}`)).toMatchObject({
      marks: expected,
      replacedBy: by,
    });
  });

  test('in a state nobody knows is a bug, not a guess', () => {
    expect(() => decodeRecord('Z|1|0|0||||||')).toThrow(/unknown state/);
  });

  test('every state has a code, and every code a state', () => {
    for (const state of ORDER_STATES) expect(STATE_CODES[CODE_OF_STATE[state]]).toBe(state);
  });
});
