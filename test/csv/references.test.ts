import { expect, it } from 'vitest';
import { memberId } from '../../src/core/ids.js';
import { tokens } from '../../src/core/points.js';
import { References } from '../../src/csv/references.js';
import type { OrderRow } from '../../src/csv/row.js';
import { cases } from '../support/suites.js';
import { readBytes } from './read-file.js';

const HEADER = 'op,member,recipient,tokens,Payment\n';

it.each([
  ['credit,70,,5,r', 'credit,7,,5,r', 'give 5 to 70', 'give 5 to 7'],
  [
    'debit,99999999999999999999,,9007199254740991,r',
    'credit,99999999999999999999,,9007199254740991,r',
    'take 9,007,199,254,740,991 from 99999999999999999999',
    'give 9,007,199,254,740,991 to 99999999999999999999',
  ],
  [
    'transfer,119283746501928374,1,5,r',
    'transfer,119283746501928374,10,5,r',
    'move 5 from 119283746501928374 to 1',
    'move 5 from 119283746501928374 to 10',
  ],
])('a reference that stands for another order gives both: %s, %s', async (first, second, old, new_) => {
  const map = new Map([['reference' as const, 'Payment']]);
  const { faults } = await readBytes(`${HEADER}${first}\n${first}\n${second}\n`, { map });
  expect(faults).toEqual([
    {
      line: 4,
      column: 'Payment',
      code: 'ALM_ROW_REFERENCE_CONFLICT',
      message: `The reference "r" is on line 2 for another order: ${old}. This row: ${new_}. The same reference is allowed only for the same op, member, recipient and tokens.`,
    },
  ]);
});

it('a row after a fault is told of the line that stood first, not of the fault', async () => {
  const { faults } = await readBytes('member,tokens,reference\n1,5,r\n1,6,r\n1,7,r\n1,5,r\n');
  expect(
    faults.map(({ line, message }) => [line, message.includes('on line 2 for another order: give 5 to 1.')]),
  ).toEqual([
    [3, true],
    [4, true],
  ]);
});

it('holds references with their orders in 60 bytes each', () => {
  const count = cases(50_000, 250_000);
  const before = process.memoryUsage().arrayBuffers;
  const references = new References();
  const row = (index: number, amount = 1 + (index % 9)): OrderRow => {
    const member = memberId(`1192837${10_000_000_000 + index * 7919}`);
    const order = { op: 'credit', member, recipient: null, tokens: tokens(amount) } as const;
    const line = index + 2;
    return { kind: 'order', line, order, reference: `r${index}`, reason: null, replaces: null, cells: [] };
  };
  for (let index = 0; index < count; index++) references.judge(row(index), 'reference');
  const bytes = process.memoryUsage().arrayBuffers - before;
  expect(references.judge(row(count - 1), 'reference')).toMatchObject({ repeats: count + 1 });
  expect(references.judge(row(count - 1, 10), 'reference')).toMatchObject({ kind: 'invalid' });
  expect(bytes).toBeLessThan(60 * count);
});
