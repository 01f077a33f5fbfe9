import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defuse, undefuse } from '../../src/core/formula-cells.js';

/** Mostly the characters that matter, so that the interesting cells come up often. */
const cell = fc.oneof(
  fc.string(),
  fc.string({
    unit: fc.constantFrom(
      ...[
        "'",
        '=',
        '+',
        '-',
        '@',
        '\t',
        '\r',
        '\n',
        '1',
        '.',
        ',',
        ';',
        '|',
        '"',
        'a',
        ' ',
        '(',
        '\u00a0',
        '＝',
        '＠',
      ],
    ),
  }),
);

const PLAIN_NUMBER = /^-?[0-9]+([.,][0-9]+)?$/;

/** What a spreadsheet makes of a cell in the midst of a line: pieces, whatever it splits by. */
function pieces(written: string): string[] {
  return written.split(/[,;|\t\r\n]/).map((piece) => piece.replace(/^[\s"]+/, ''));
}

describe('formula cells', () => {
  test('every cell reads back as it was', () => {
    fc.assert(
      fc.property(cell, (text) => {
        expect(undefuse(defuse(text))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('no piece of what is written starts a formula, unless the cell is a plain number', () => {
    fc.assert(
      fc.property(cell, (text) => {
        const written = defuse(text);
        if (PLAIN_NUMBER.test(written)) return;
        expect(pieces(written).filter((piece) => /^[=+\-@＝＋－＠]/.test(piece))).toEqual([]);
        expect(written).not.toMatch(/^[\t\r]/);
        expect(written).not.toMatch(/ [=+\-@＝＠][^\s]*\(/u);
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
    ['hello;=1+1;x', "'hello;'=1+1;x"],
    ['thanks =HYPERLINK("x") all', `'thanks '=HYPERLINK("x") all`],
    ['thanks "+cmd|x!A1', `'thanks "'+cmd|x!A1`],
    ["it's '@SUM(1)", "'it's ''@SUM(1)"],
    ['a - b = c, see @ada -5 (x)', 'a - b = c, see @ada -5 (x)'],
    ['a,b\t=1', "'a,b\t'=1"],
    ['a|@x', "'a|'@x"],
    ['two\n=lines', "'two\n'=lines"],
    ['a; "=1', "'a; \"'=1"],
    ['  =1', "'  =1"],
    ['＝1', "'＝1"],
    ["'a;'=1", "''a;''=1"],
    ["a;'=1", "'a;''=1"],
  ])('%j is written as %j', (text, written) => {
    expect(defuse(text)).toBe(written);
  });

  test('a long cell costs no more than its length', () => {
    for (const unit of [';', '\n', ' ', '"', "'", ';=', "'; '", ' =a', ' "=(', " '"]) {
      const text = unit.repeat(200_000);
      const begun = process.cpuUsage();
      expect(undefuse(defuse(text))).toBe(text);
      const { user, system } = process.cpuUsage(begun);
      expect((user + system) / 1_000).toBeLessThan(10_000);
    }
  });

  test('what earlier versions wrote reads back as it was', () => {
    expect(undefuse("a, '@b'"), 'an apostrophe of the person').toBe("a, '@b'");
    expect(["'=1;=2", "''=1", "'\tx", "'-2+3"].map(undefuse)).toEqual(['=1;=2', "'=1", '\tx', '-2+3']);
  });

  test.each(['-5', '-5,25', '5.0', '1190000000000100097', "'quoted'", "O'Neil", '', "'", 'a;b', "x, 'y'"])(
    '%j stays as it is',
    (text) => {
      expect(defuse(text)).toBe(text);
      expect(undefuse(text)).toBe(text);
    },
  );
});
