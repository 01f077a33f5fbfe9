import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { INTAKE_LIMITS } from '../../src/csv/open.js';
import { readRecords } from '../../src/csv/records.js';
import type { Delimiter, Row } from '../../src/csv/row.js';
import { generated } from '../support/suites.js';
import { readBytes } from './read-file.js';

const id = fc.stringMatching(/^[1-9][0-9]{0,18}$/);
const amount = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const freeText = fc
  .string({ unit: 'grapheme', maxLength: 30 })
  .filter((text) => !text.includes('\r') && !text.includes('\0'));
const order = fc
  .record({
    op: fc.constantFrom('credit', 'debit', 'transfer'),
    member: id,
    recipient: id,
    tokens: amount,
    note: freeText,
  })
  .filter((row) => row.op !== 'transfer' || row.member !== row.recipient);

const dialect = fc.record({
  delimiter: fc.constantFrom<Delimiter>(',', ';', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  mark: fc.boolean(),
  separatorLine: fc.boolean(),
  finalLineEnd: fc.boolean(),
  quoteAll: fc.boolean(),
});

type Dialect = typeof dialect extends fc.Arbitrary<infer T> ? T : never;

/** RFC 4180, with the writer's own liberties. */
function write(rows: readonly (readonly string[])[], how: Dialect): string {
  const cell = (text: string) =>
    how.quoteAll || /["\r\n,;\t]|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const lines = rows.map((row) => row.map(cell).join(how.delimiter));
  if (how.separatorLine) lines.unshift(`sep=${how.delimiter}`);
  return (how.mark ? '\ufeff' : '') + lines.join(how.lineEnd) + (how.finalLineEnd ? how.lineEnd : '');
}

describe('any rows in any dialect', () => {
  it('read back as the same orders, cells and batch', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(order, { minLength: 1, maxLength: 20 }), dialect, async (orders, how) => {
        const table = orders.map((row, index) => [
          row.op,
          row.member,
          row.op === 'transfer' ? row.recipient : '',
          String(row.tokens),
          `ref ${index}`,
          row.note.replace(/^'+(?=[=+\-@\t])/, ''),
        ]);
        const header = ['op', 'member', 'recipient', 'tokens', 'reference', 'extra'];
        const reading = await readBytes(write([header, ...table], how));
        expect(reading.faults.filter((fault) => !fault.code.startsWith('ALM_PLAN'))).toEqual([]);
        expect(reading.sheet).toMatchObject({ delimiter: how.delimiter, header });
        expect(reading.rows.map((row: Row) => row.cells)).toEqual(table);
        expect(reading.rows).toMatchObject(
          orders.map((row) => ({ order: { op: row.op, member: row.member, tokens: row.tokens } })),
        );
        const plain = { ...how, delimiter: ',', lineEnd: '\n', mark: false, separatorLine: false } as const;
        const again = await readBytes(write([header, ...table], { ...plain, quoteAll: !how.quoteAll }));
        expect(again.through?.sha256).toBe(reading.through?.sha256);
      }),
      generated(30, 150),
    );
  });
});

describe('whatever bytes come', () => {
  const scraps = [
    '"',
    ',',
    ';',
    '\n',
    '\r',
    '\r\n',
    '\t',
    '=',
    'member',
    'tokens',
    '1',
    '-5',
    "'",
    '\ufeff',
    'é',
    ' ',
  ];
  const csvish = fc
    .array(fc.constantFrom(...scraps), { maxLength: 60 })
    .map((parts) => Buffer.from(parts.join('')));
  const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
  const head = Buffer.from('member,tokens,reason\n');

  it('are rows or faults, never a crash', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(csvish, bytes), fc.boolean(), async (body, withHeader) => {
        const reading = await readBytes(withHeader ? Buffer.concat([head, body]) : body);
        expect(reading.faults.length > 0 || reading.rows.length > 0).toBe(true);
      }),
      generated(100, 400),
    );
  });

  it('are the same records wherever the chunks are cut, each beginning on its physical line', async () => {
    const records = async (pieces: readonly Buffer[]) => {
      const found: unknown[] = [];
      const read = (line: number, cells: string[], flaw: number) => [line, flaw, ...cells];
      try {
        for await (const block of readRecords(Readable.from(pieces), ',', INTAKE_LIMITS, read))
          found.push(...block);
      } catch (error) {
        found.push(error instanceof Error ? error.message : error);
      }
      return found;
    };
    await fc.assert(
      fc.asyncProperty(csvish, fc.integer({ min: 1, max: 7 }), async (body, size) => {
        const pieces: Buffer[] = [];
        for (let at = 0; at < body.length; at += size) pieces.push(body.subarray(at, at + size));
        const whole = await records(body.length === 0 ? [] : [body]);
        // A byte order mark is looked for in the first chunk only, which no file system cuts below three bytes.
        if (!body.toString().startsWith('\ufeff')) expect(await records(pieces)).toEqual(whole);
        const lines = body
          .toString()
          .replace(/^\ufeff/, '')
          .split('\n');
        for (const record of whole)
          if (Array.isArray(record) && record[1] === 0 && record.length > 2) {
            const begins = lines[Number(record[0]) - 1] ?? '';
            expect(
              begins
                .replace(/^"/, '')
                .startsWith(String(record[2]).split(/["\n]/)[0]?.replace(/\r$/, '') ?? ''),
            ).toBe(true);
          }
      }),
      generated(100, 400),
    );
  });
});
