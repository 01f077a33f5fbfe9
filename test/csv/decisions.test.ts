import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDecisions } from '../../src/csv/decisions.js';
import { csvLine } from '../../src/report/csv-files.js';
import { tempFolder } from '../support/temp-folder.js';

const HEADER = 'member,tokens,reason,almoner_order,almoner_error,almoner_doubt,decision\n';
const fileOf = async (text: string) => {
  const path = join(await tempFolder(), 'doubt.csv');
  await writeFile(path, text);
  return path;
};
const read = async (text: string) => readDecisions(await fileOf(text));

describe('decisions from an edited doubt.csv', () => {
  test.each([
    [
      'a quote in the midst of a cell',
      '1,5,a "b" c,b-1,timeout,d1-0c4f,paid',
      'line 2, reason',
      'ALM_ROW_QUOTES',
    ],
    ['text behind a closing quote', '1,5,"a"b,b-1,timeout,d1-0c4f,paid', 'line 2, reason', 'ALM_ROW_QUOTES'],
    ['a cell that lost its quotes', '1,5,a,b,b-1,timeout,d1-0c4f,paid', 'line 2', 'ALM_ROW_TOO_LONG'],
    ['a cell that is gone', '1,5,b-1,timeout,d1-0c4f,paid', 'line 2', 'ALM_ROW_TOO_SHORT'],
    ['a CR alone', '1,5,a\rb,b-1,timeout,d1-0c4f,paid', 'line 2, reason', 'ALM_ROW_CARRIAGE_RETURN'],
  ])('%s is reported with line, column and code, and nothing is decided', async (_, row, place, code) => {
    await expect(read(`${HEADER}${row}\n2,6,x,b-2,timeout,d1-0c4f,unpaid\n`)).rejects.toMatchObject({
      code: 'ALM_BATCH_DECISIONS',
      details: [expect.stringMatching(new RegExp(`^${place}: .*\\[${code}\\]$`))],
    });
  });

  test('rows that a stray quote swallowed are not passed over', async () => {
    const text = `${HEADER}1,5,"a,b-1,timeout,d1-0c4f,paid\n2,6,x",b-2,timeout,d1-0c4f,unpaid\n3,7,"y"z,b-3,timeout,d1-0c4f,paid\n`;
    await expect(read(text)).rejects.toMatchObject({
      details: [expect.stringContaining('ALM_ROW_QUOTES')],
    });
    const open = `${HEADER}1,5,"a,b-1,timeout,d1-0c4f,paid\n2,6,x,b-2,timeout,d1-0c4f,unpaid\n`;
    await expect(read(open)).rejects.toMatchObject({ code: 'ALM_FILE_QUOTES' });
  });

  test('a header with a stray quote is told, not a bug', async () => {
    await expect(read('member,"to"kens","almoner_order,decision\n')).rejects.toMatchObject({
      code: expect.stringMatching(/^ALM_(FILE_QUOTES|BATCH_DECISIONS)$/),
    });
  });

  test('a file that does not name the doubts is refused', async () => {
    await expect(read('member,almoner_order,decision\n1,b-1,unpaid\n')).rejects.toMatchObject({
      code: 'ALM_BATCH_DECISIONS',
      message: expect.stringContaining('no column almoner_doubt'),
    });
  });

  test('every fault is listed', async () => {
    const row = '1,5,a"b,b-1,timeout,d1-0c4f,paid\n';
    await expect(read(HEADER + row.repeat(3))).rejects.toMatchObject({
      message: expect.stringContaining('3 rows that cannot be read'),
      details: [/line 2/, /line 3/, /line 4/].map((place) => expect.stringMatching(place)),
    });
  });

  test('what the report wrote, with decisions filled in, is read: also with cells that spreadsheets add', async () => {
    const cells = ['1', '5', 'x;=1+1 "q"\nline', 'b-1', '', 'd2-ab12', 'paid'];
    const text = `${HEADER + csvLine(cells, ',')}2,6,x,b-2,timeout,d1-0c4f,Unpaid,,\n,,,,,,\n`;
    expect(await read(text)).toEqual([
      { line: 2, order: 'b-1', doubt: 'd2-ab12', decision: 'paid' },
      { line: 4, order: 'b-2', doubt: 'd1-0c4f', decision: 'unpaid' },
    ]);
  });
});
