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
import { type FieldName, namesOf, recordFieldsLua } from '../../src/ledger/record-fields.js';
import { ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';

const SETTLED_CODES = ['w', 'P', 'R', 'X', 'u', 'D', 'd', 'i', 'c'] as const;
const counts = fc.nat({ max: 1_000_000 });
const record = fc.record({
  code: fc.constantFrom(...SETTLED_CODES),
  keyNumber: counts,
  keyFirstAt: fc.option(fc.nat({ max: 4e12 })),
  attempts: counts,
  tries: counts,
  status: fc.option(fc.integer({ min: 100, max: 599 })),
  balance: fc.option(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String)),
  sentAt: fc.option(fc.nat({ max: 4e12 })),
  tookMs: fc.option(fc.nat({ max: 1e9 })),
  evidence: fc.option(fc.constantFrom('answer', 'key', 'readback', 'operator' as const)),
});

describe('an order record', () => {
  test('reads back exactly as it was written', () => {
    fc.assert(
      fc.property(record, (value) => {
        const { session, nonce, paidBy, doubt, marks, replacedBy, arrivesUntil, ...read } = decodeRecord(
          encodeRecord(value),
        );
        // Without its own time, a key was first used when the order was sent.
        expect(read).toEqual({ ...value, keyFirstAt: value.keyFirstAt ?? value.sentAt });
        expect([session, nonce, doubt, marks, replacedBy, arrivesUntil]).toEqual([
          null,
          null,
          null,
          [],
          null,
          null,
        ]);
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

  test('holds the first use of its key if that was before this attempt', () => {
    const text = encodeRecord({ ...NEVER_SENT, code: 'u', attempts: 2, sentAt: 72, keyFirstAt: 36 });
    expect(text.split('|')[1]).toBe('1@10');
    expect(decodeRecord(text)).toMatchObject({ keyNumber: 1, keyFirstAt: 36, sentAt: 72 });
  });

  test('holds the nonce of its last attempt unless the order was simply paid', () => {
    expect(decodeRecord('u|1|1|0|||loyw3v28|2|||nonce-1').nonce).toBe('nonce-1');
    expect(decodeRecord('u|1|1|0|||loyw3v28|2|||').nonce).toBeNull();
  });

  test('that is missing means planned and never sent', () => {
    expect(decodeRecord(null)).toBe(NEVER_SENT);
    expect(decodeRecord(undefined)).toBe(NEVER_SENT);
  });

  test('of an order being sent holds the nonce of its attempt', () => {
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
    ['', [], null, null],
    ['d', ['discarded'], null, null],
    ['r12', ['replaced'], '12', null],
    ['dr12', ['discarded', 'replaced'], '12', null],
    ['a1772355600000', [], null, 1_772_355_600_000],
    ['da1772355600000r12', ['discarded', 'replaced'], '12', 1_772_355_600_000],
  ])('with the marks %j says what a person did to it', (marks, expected, replacedBy, arrivesUntil) => {
    expect(decodeRecord(`X|1|3|3|||loyw3v28|2|o|${marks}`)).toMatchObject({
      marks: expected,
      replacedBy,
      arrivesUntil,
    });
  });

  test('in an unknown state is a bug, not a guess', () => {
    expect(() => decodeRecord('Z|1|0|0||||||')).toThrow(/unknown state/);
  });

  test('every state has a code, and every code a state', () => {
    for (const state of ORDER_STATES) expect(STATE_CODES[CODE_OF_STATE[state]]).toBe(state);
  });
});

describe('the scripts’ codec, generated from the same table', () => {
  const bench = ledgersOnRedis();
  const inLua = async (body: string, ...given: readonly string[]) => {
    const { scripts } = await bench.ledger();
    return String(await scripts.redis.eval(`${recordFieldsLua()}\n${body}`, 0, ...given));
  };
  const value = fc.stringMatching(/^[a-z0-9@-]{0,8}$/);
  const stored = fc
    .tuple(
      fc.constantFrom(...SETTLED_CODES, 's'),
      fc.array(value, { minLength: 9, maxLength: 9 }),
      fc.array(value, { maxLength: 2 }),
    )
    // While an order is being sent, the eleventh field is present and empty.
    .map(([code, always, more]) =>
      [code, ...always, ...(code === 's' ? ['', ...more.slice(1)] : more)].join('|'),
    );

  test('writes every stored record back byte for byte', async () => {
    const records = fc.sample(stored, 300);
    const written = await inLua(
      "local all = {} for i, one in ipairs(ARGV) do all[i] = encodeRecord(decodeRecord(one)) end return table.concat(all, '\\n')",
      ...records,
    );
    expect(written.split('\n')).toEqual(records);
  });

  test.each(['P|a|b|c|d|e|f|g|h|i|j|k', 's|a|b|c|d|e|f|g|h|i||k'])('names the fields of %s', async (text) => {
    const fields: Partial<Record<FieldName, string>> = {};
    const values = text.split('|');
    for (const [at, name] of namesOf(values[0] ?? '').entries())
      if (name !== null) fields[name] = values[at] ?? '';
    expect(JSON.parse(await inLua('return cjson.encode(decodeRecord(ARGV[1]))', text))).toEqual(fields);
  });

  test('writes an unnamed field as empty, and no field after the last that has a value', async () => {
    const encode = (fields: string) => inLua(`return encodeRecord({ ${fields} })`);
    expect(await encode("state = 'w', key = '2', marks = 'a1'")).toBe('w|2||||||||a1');
    expect(await encode("state = 'u', nonce = ''")).toBe('u||||||||||');
    expect(await encode("state = 'D', doubt = 'd1-0af3'")).toBe('D|||||||||||d1-0af3');
    expect(await encode("state = 's', session = 'one', nonce = 'two', status = '404'")).toBe(
      's||||one|two|||404||',
    );
  });
});
