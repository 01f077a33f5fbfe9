import { describe, expect, test } from 'vitest';
import { INTAKE_LIMITS } from '../../src/csv/open.js';
import { readProgramRows, rowOfLine } from '../../src/csv/program-rows.js';
import type { Finding } from '../../src/csv/row.js';
import { takeRows } from '../../src/csv/take-rows.js';
import { RULES, readGiven } from './read-given.js';

async function faultsOf(...rows: readonly unknown[]): Promise<readonly Finding[]> {
  return (await readGiven(rows)).flatMap((row) => (row.kind === 'invalid' ? row.findings : []));
}

describe('rows that a program gives', () => {
  test('may have amounts of any kind that is exact, up to the largest', async () => {
    const [a, b, c] = await readGiven([
      { member: '1', tokens: Number.MAX_SAFE_INTEGER },
      { member: '2', tokens: 9007199254740991n },
      { member: '3', tokens: '-7' },
    ]);
    expect([a, b, c].map((row) => row?.kind === 'order' && [row.order.op, row.order.tokens])).toEqual([
      ['credit', 9007199254740991],
      ['credit', 9007199254740991],
      ['debit', 7],
    ]);
  });

  test('beside transfers may leave the recipient out: the sign says what is meant', async () => {
    const rows = await readGiven([
      { member: '1', tokens: 5, recipient: '2' },
      { member: '1', tokens: -5 },
      { member: '1', tokens: 5n },
    ]);
    expect(rows.map((row) => row.kind === 'order' && row.order.op)).toEqual(['transfer', 'debit', 'credit']);
    const [empty] = await faultsOf(
      { member: '1', tokens: 5, recipient: '2' },
      { member: '1', tokens: 5, recipient: '' },
    );
    expect(empty?.code).toBe('ALM_ROW_RECIPIENT_MISSING');
  });

  test('lose no field that is an accessor or inherited', async () => {
    class Gift {
      readonly #id: number;
      constructor(id: number) {
        this.#id = id;
      }
      get member() {
        return '1';
      }
      get recipient() {
        return '2';
      }
      get tokens() {
        return 50;
      }
      get reference() {
        return `gift/${this.#id}`;
      }
    }
    const inherited = Object.assign(Object.create({ reference: 'kept', reason: 'why' }), {
      member: '3',
      tokens: 5,
    });
    const orders = await readGiven([new Gift(7), inherited]);
    expect(orders.map((row) => row.kind === 'order' && row)).toMatchObject([
      { order: { op: 'transfer', member: '1', recipient: '2', tokens: 50 }, reference: 'gift/7' },
      { order: { op: 'credit', member: '3', tokens: 5 }, reference: 'kept' },
    ]);
  });

  test('carry their own columns along, each row the ones it has', async () => {
    const rows = [
      { member: '1', tokens: 1, columns: { handle: 'ann' } },
      { member: '2', tokens: 1, columns: { guild: 'north' } },
    ];
    const sheet = readProgramRows(takeRows(rows), RULES);
    expect('sheet' in sheet && sheet.sheet.header).toEqual(['member', 'tokens', 'handle', 'guild']);
    expect((await readGiven(rows)).map(({ cells }) => cells)).toEqual([
      ['1', '1', 'ann', ''],
      ['2', '1', '', 'north'],
    ]);
  });
});

describe('refused by name, with the row', () => {
  test.each([
    [
      'a number as an id',
      { member: Number('119837460192837465'), tokens: 1 },
      /member: expected text, got the number 119837460192837470/,
    ],
    ['a bigint as an id', { member: 1n, tokens: 1 }, /member: expected text, got the number 1/],
    ['a number as a reference', { member: '1', tokens: 1, reference: 7 }, /reference: expected text/],
    ['a fraction', { member: '1', tokens: 1.5 }, /tokens: 1.5 is not a whole number/],
    [
      'a number beyond the exact ones',
      { member: '1', tokens: 2 ** 53 },
      /tokens: 9007199254740992 is not a whole number/,
    ],
    ['no number', { member: '1', tokens: Number.NaN }, /tokens: NaN is not a whole number/],
    ['null', { member: '1', tokens: 1, reference: null }, /reference: expected text, got null/],
    ['half a character', { member: '1', tokens: 1, reference: '\ud800' }, /half of a character/],
    ['a field nobody knows', { member: '1', tokens: 1, refrence: 'a' }, /no field "refrence"/],
    ['no object', 'row', /expected an object for each row, got string/],
    [
      'columns that are none',
      { member: '1', tokens: 1, columns: 'x' },
      /columns: expected a plain object of texts, got string/,
    ],
    [
      'columns in a Map',
      { member: '1', tokens: 1, columns: new Map([['a', 'b']]) },
      /columns: expected a plain object of texts, got an object of class Map/,
    ],
    ['an amount without a text', { member: '1', tokens: Object.create(null) }, /tokens: expected text, got/],
    [
      'a field that throws',
      {
        member: '1',
        get tokens() {
          throw new Error('their bug');
        },
      },
      /cannot be read: their bug/,
    ],
  ])('%s', async (_, row, message) => {
    const [fault, ...more] = await faultsOf({ member: '9', tokens: 9 }, row);
    expect(fault).toMatchObject({ line: 3, code: 'ALM_ROW_FIELD', message: expect.stringMatching(message) });
    expect([more, rowOfLine(fault?.line ?? 0)]).toEqual([[], 1]);
  });

  test('a hole in the list', async () => {
    expect(await readGiven(new Array(1))).toMatchObject([
      {
        kind: 'invalid',
        findings: [{ message: expect.stringMatching(/an object for each row, got undefined/) }],
      },
    ]);
  });

  test('a further column that has a meaning, and more rows or larger ones than are read', async () => {
    await expect(readGiven([{ member: '1', tokens: 1, columns: { Amount: '5' } }])).rejects.toThrow(
      'ALM_FILE_COLUMN_TWICE',
    );
    const row = { member: '1', tokens: 1, reason: 'x'.repeat(50) };
    await expect(readGiven([row, row], { ...INTAKE_LIMITS, rowsMax: 1 })).rejects.toThrow(
      'ALM_FILE_TOO_MANY_ROWS',
    );
    await expect(readGiven([row], { ...INTAKE_LIMITS, recordBytesMax: 40 })).rejects.toThrow(
      'larger than 40 bytes',
    );
  });
});
