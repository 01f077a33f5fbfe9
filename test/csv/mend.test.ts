import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cellsAt, type MendedCell, type MendSheet, mendFile } from '../../src/csv/mend.js';
import { openSource } from '../../src/csv/open.js';
import { parseRecords } from '../../src/csv/records.js';
import type { Delimiter } from '../../src/csv/row.js';

const SHEET: MendSheet = { delimiter: ',', headerLine: 1, names: ['member', 'tokens', 'reason'] };

async function mended(text: string, cells: readonly MendedCell[], sheet = SHEET): Promise<string> {
  const source = await openSource('-', { stdin: Readable.from([Buffer.from(text)]) });
  try {
    const pieces: Buffer[] = [];
    for await (const piece of await mendFile(source, sheet, cells)) pieces.push(piece);
    return Buffer.concat(pieces).toString('utf8');
  } finally {
    await source.close();
  }
}

async function present(text: string, places: readonly Omit<MendedCell, 'text'>[]) {
  const source = await openSource('-', { stdin: Readable.from([Buffer.from(text)]) });
  return cellsAt(source, SHEET, places).finally(() => source.close());
}

const tokens = (line: number, text: string) => ({ line, column: 'tokens', text });

describe('mended cells', () => {
  test('stand in their records, and every other byte is as it was', async () => {
    const file =
      '\uFEFFmember,tokens,reason\r\n1,"5",x\r\n\r\n2,abc,"two\r\nlines"\r\n3,"7" ,y\n4,5,z\r\n9,1.000,end';
    expect(await mended(file, [tokens(4, '6'), tokens(8, '1000')])).toBe(
      '\uFEFFmember,tokens,reason\r\n1,"5",x\r\n\r\n2,6,"two\r\nlines"\r\n3,"7" ,y\n4,5,z\r\n9,1000,end',
    );
  });

  test('are quoted where they must be, and keep the line end of their record', async () => {
    const file = 'member,tokens,reason\r\n1,5,a\n2,6,b\r\n';
    const reason = (line: number, text: string) => ({ line, column: 'reason', text });
    expect(await mended(file, [reason(3, 'say "hi",\ntwice'), reason(2, 'a;b')])).toBe(
      'member,tokens,reason\r\n1,5,a;b\n2,6,"say ""hi"",\ntwice"\r\n',
    );
  });

  test('are found across the borders of what is read at once', async () => {
    const rows = Array.from({ length: 4_000 }, (_, at) => `${at},bad,row ${'x'.repeat(at % 17)}\r\n`);
    const file = `member,tokens,reason\r\n${rows.join('')}`;
    const cells = rows.flatMap((_, at) => (at % 3 === 0 ? [tokens(at + 2, '5')] : []));
    const expected = rows.map((row, at) => (at % 3 === 0 ? row.replace(',bad,', ',5,') : row));
    expect(await mended(file, cells)).toBe(`member,tokens,reason\r\n${expected.join('')}`);
  });

  test.each([
    ['a line on which no row begins', [tokens(3, '5')], 'No row begins on line 3.'],
    ['the header', [tokens(1, '5')], 'No row begins on line 1.'],
    ['a line behind the end', [tokens(99, '5')], 'No row begins on line 99.'],
    ['a column that is not there', [{ line: 2, column: 'points', text: '5' }], 'no column "points"'],
    ['a cell twice', [tokens(2, '5'), tokens(2, '6')], 'Line 2, column tokens is given twice.'],
    ['a row that is too short', [tokens(4, '5')], 'Correct it in the file itself'],
    ['a row with stray quotes', [tokens(5, '5')], 'Correct it in the file itself'],
  ])('%s is refused, and nothing is written', async (_, cells, message) => {
    const file = 'member,tokens,reason\n1,x,"a\nb"\n2,x\n3,x,a"b\n';
    const refused = mended(file, cells);
    await expect(refused).rejects.toMatchObject({ code: 'ALM_FILE_MEND' });
    await expect(refused).rejects.toThrow(message);
  });

  test('the present cells are given as they stand; none of a row whose cells may have shifted', async () => {
    const file = 'member,tokens,reason\n1,"5,0","a\nb"\n2,x\n';
    expect(
      await present(file, [tokens(2, ''), { line: 2, column: 'reason' }, tokens(4, ''), tokens(3, '')]),
    ).toEqual(['5,0', 'a\nb', null, null]);
  });
});

const cell = fc.string({
  unit: fc.constantFrom('a', '1', ',', ';', '"', '\n', '\r\n', 'é', ' ', '\t'),
  maxLength: 6,
});
const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
/** As different programs write it: quoted always, or where it must be. */
const spelt = (text: string, always: boolean) => (always || /["\r\n,;\t]/.test(text) ? quote(text) : text);

test('whatever the file: it reads as before but for the mended cells, and other records are the same bytes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ cells: fc.tuple(cell, cell), always: fc.boolean(), crlf: fc.boolean() }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.constantFrom<Delimiter>(',', ';', '\t'),
      fc.boolean(),
      fc.array(fc.record({ row: fc.nat(11), column: fc.nat(2), text: cell }), { minLength: 1, maxLength: 5 }),
      async (rows, delimiter, endless, wishes) => {
        const names = ['id', 'a b', 'é'];
        const records = rows.map(({ cells, always, crlf }, at) => {
          const text = [`k${at}`, ...cells].map((one) => spelt(one, always)).join(delimiter);
          return text + (at === rows.length - 1 && endless ? '' : crlf ? '\r\n' : '\n');
        });
        const header = `${names.join(delimiter)}\r\n`;
        const linesOf = (text: string) => text.split('\n').length - 1;
        const lineAt = (row: number) => 1 + linesOf(header + records.slice(0, row).join(''));
        const wanted = new Map(
          wishes.filter(({ row }) => row < rows.length).map((wish) => [`${wish.row} ${wish.column}`, wish]),
        );
        if (wanted.size === 0) return;
        const cells = [...wanted.values()].map(({ row, column, text }) => {
          return { line: lineAt(row), column: names[column] ?? '', text };
        });
        const before = header + records.join('');
        const after = await mended(before, cells, { delimiter, headerLine: 1, names });
        const expected = parseRecords(before, delimiter);
        for (const { row, column, text } of wanted.values()) (expected[row + 1] ?? [])[column] = text;
        expect(parseRecords(after, delimiter)).toEqual(expected);
        const touched = new Set([...wanted.values()].map(({ row }) => row));
        let rest = after.slice(header.length);
        records.forEach((record, row) => {
          if (touched.has(row)) {
            const size = firstRecord(rest);
            expect(rest.slice(0, size).endsWith('\r\n')).toBe(record.endsWith('\r\n'));
            rest = rest.slice(size);
          } else {
            expect(rest.slice(0, record.length)).toBe(record);
            rest = rest.slice(record.length);
          }
        });
        expect([after.slice(0, header.length), rest]).toEqual([header, '']);
      },
    ),
    { numRuns: 300 },
  );
});

/** Up to and with the end of the first record: a line feed behind an even number of quotes. */
function firstRecord(text: string): number {
  let isOpen = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') isOpen = !isOpen;
    else if (text[at] === '\n' && !isOpen) return at + 1;
  }
  return text.length;
}
