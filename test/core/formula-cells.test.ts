import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defuse, undefuse } from '../../src/core/formula-cells.js';

/** Mostly the characters that matter, so that the interesting cells come up often. */
const cell = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '1', '.', ',', 'a', ' ') }),
);

describe('formula cells', () => {
  test('every cell reads back as it was', () => {
    fc.assert(
      fc.property(cell, (text) => {
        expect(undefuse(defuse(text))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('nothing that is written starts a formula, unless it is a plain number', () => {
    fc.assert(
      fc.property(cell, (text) => {
        const written = defuse(text);
        expect(/^[=+\-@\t\r]/.test(written) && !/^-?[0-9]+([.,][0-9]+)?$/.test(written)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['=SUM(A1)', "'=SUM(A1)"],
    ['+49 123', "'+49 123"],
    ['-2+3+cmd|x', "'-2+3+cmd|x"],
    ['@here', "'@here"],
    ['\tx', "'\tx"],
    ["'=1", "''=1"],
  ])('%j is written as %j', (text, written) => {
    expect(defuse(text)).toBe(written);
  });

  test.each(['-5', '-5,25', '5.0', '1190000000000100097', "'quoted'", "O'Neil", '', "'"])(
    '%j stays as it is',
    (text) => {
      expect(defuse(text)).toBe(text);
      expect(undefuse(text)).toBe(text);
    },
  );
});
