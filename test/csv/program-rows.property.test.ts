import fc from 'fast-check';
import { expect, test } from 'vitest';
import { csvLine } from '../../src/report/csv-files.js';
import { generated } from '../support/suites.js';
import { readBytes } from './read-file.js';
import { readGiven } from './read-given.js';

const text = fc.oneof(
  fc.stringMatching(/^[1-9][0-9]{0,18}$/),
  fc.constantFrom('', '007', '1.19E+18', '="12"', ' 12 ', '<@12>', '1,000', '-5', '+5', '0', '1.5', 'ref'),
  fc.string({ unit: 'grapheme', maxLength: 12 }).filter((some) => !/[\r\n\0]/.test(some)),
);

test('rows that a program gives are read as the same rows of a file are: orders, faults and places', async () => {
  const row = fc.record({
    member: text,
    tokens: text,
    op: text,
    reference: text,
    reason: fc.constant('why'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
      const header = ['member', 'tokens', 'op', 'reference', 'reason'];
      const lines = rows.map((one) => [one.member, one.tokens, one.op, one.reference, one.reason]);
      // The writer of reports defuses what a spreadsheet would run, and both readers take that off.
      const file = await readBytes([header, ...lines].map((line) => csvLine(line, ',')).join(''));
      const undefused = (await readGiven(rows)).map(({ cells: _, ...one }) => one);
      expect(undefused).toEqual(file.rows.map(({ cells: _, ...one }) => one));
    }),
    generated(30, 100),
  );
});
