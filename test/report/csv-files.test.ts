import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { undefuse } from '../../src/core/formula-cells.js';
import { csvLine } from '../../src/report/csv-files.js';

const delimiters = [',', ';', '\t'] as const;
const cell = fc.string({
  unit: fc.oneof(
    fc.constantFrom('"', ',', ';', '\t', '\r', '\n', ' ', "'", '='),
    fc.string({ maxLength: 1 }),
  ),
});

describe('a line of CSV', () => {
  test('any cells come back from a parser of RFC 4180', () => {
    const records = fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(records, fc.constantFrom(...delimiters), (rows, delimiter) => {
        const text = rows.map((cells) => csvLine(cells, delimiter)).join('');
        const read: unknown = parse(text, { delimiter, relax_column_count: true, record_delimiter: '\n' });
        expect(read).toEqual(
          rows.map((cells) => cells.map((text) => expect.toSatisfy((got) => undefuse(got) === text))),
        );
      }),
    );
  });

  test('quotes only what needs it, and doubles quotes inside', () => {
    expect(csvLine(['plain', 'a "b"', 'x,y', 'two\nlines', ' edge', 7, null], ',')).toBe(
      'plain,"a ""b""","x,y","two\nlines"," edge",7,\n',
    );
  });

  test('no other delimiter stands outside quotes, so that a reader cannot guess wrong', () => {
    expect(csvLine(['a;b', 'c\td'], ',')).toBe('"a;b","c\td"\n');
  });
});
