import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ORDER_STATES, type OrderState } from '../../src/core/states.js';
import { Summary } from '../../src/report/summary.js';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/ledger/batch-record.js';
import { checksums, readRows } from '../support/program/report-files.js';
import { vividBatch } from '../support/program/vivid-batch.js';
import { tempFolder } from '../support/temp-folder.js';

const PARTS = ['paid.csv', 'failed.csv', 'doubt.csv', 'unprocessed.csv', 'duplicate.csv'];
const now = START;

async function summaryOf(folder: string) {
  return Summary.parse(JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8')));
}

describe('the report of a batch', () => {
  test('results.csv has the promised columns and one line per input row, in input order', async () => {
    const rows = ORDER_STATES.map((state, at) => rowOf(state, at + 1));
    const { folder } = await writeReport(recordOf(rows), { folder: await tempFolder(), now });
    const [header, ...lines] = await readRows(folder, 'results.csv');
    expect(header?.join(', ')).toBe(
      'line, order, op, member, recipient, tokens, state, attempts, http_status, balance_after, error_code, error, evidence, sent_at, settled_at, in_member, in_tokens, in_reason, in_city',
    );
    expect(lines.map((cells) => cells[0])).toEqual(rows.map((row) => String(row.line)));
    expect(lines.map((cells) => cells[6])).toEqual([...ORDER_STATES]);
    const paid = lines[ORDER_STATES.indexOf('paid')];
    expect(paid?.slice(13, 15)).toEqual(['2026-03-01T09:00:01.360Z', '2026-03-01T09:00:01.467Z']);
  });

  test('any mix of states: the five files together are the input, row for row', async () => {
    const root = await tempFolder();
    const mix = fc.array(fc.constantFrom<OrderState>(...ORDER_STATES), { maxLength: 40 });
    const cells = fc.array(fc.oneof(fc.constant('=1+1'), fc.constant('a,"b"\n'), fc.string()), {
      minLength: 3,
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(mix, cells, async (states, own) => {
        const rows = states.map((state, at) => rowOf(state, at + 1, { cells: [String(at + 1), ...own] }));
        const { folder } = await writeReport(recordOf(rows), { folder: root, now });
        const read = await Promise.all(PARTS.map((name) => readRows(folder, name)));
        const together = read.flatMap((lines) => lines.slice(1)).sort((a, b) => Number(a[0]) - Number(b[0]));
        expect(together.map((line) => line.slice(0, 4))).toEqual(rows.map((row) => row.cells));
        expect(together.map((line) => line[4])).toEqual(rows.map((row) => row.order));
        expect(together.map((line) => line[5])).toEqual(states);
      }),
      { numRuns: 40 },
    );
  });

  test('each state has its file, and a file without rows is its header only', async () => {
    const root = await tempFolder();
    const expected: Record<string, OrderState[]> = {
      'paid.csv': ['paid'],
      'failed.csv': ['refused', 'exhausted', 'invalid'],
      'doubt.csv': ['sending', 'unknown', 'doubt'],
      'unprocessed.csv': ['planned', 'cancelled'],
      'duplicate.csv': ['duplicate'],
    };
    const { folder } = await writeReport(recordOf(ORDER_STATES.map((state, at) => rowOf(state, at + 1))), {
      folder: root,
      now,
    });
    for (const [name, states] of Object.entries(expected))
      expect((await readRows(folder, name)).slice(1).map((cells) => cells[5])).toEqual(states);
    await writeReport(recordOf([]), { folder: root, now });
    for (const name of PARTS) {
      const [header, ...rest] = await readRows(folder, name);
      expect(rest).toEqual([]);
      expect(header?.slice(0, 8).join()).toBe(
        'member,tokens,reason,city,almoner_order,almoner_state,almoner_error_code,almoner_error',
      );
    }
    expect((await readRows(folder, 'doubt.csv'))[0]?.at(-1)).toBe('decision');
  });

  test('doubt.csv tells what to look for upstream: when, key, request id and the balances seen', async () => {
    const traces = {
      sentAt: Date.parse('2026-03-01T10:00:00Z'),
      key: 'spring-2.1',
      requestId: 'req-7',
      before: { member: '100', recipient: '5' },
      inDoubt: { member: '90', recipient: '15' },
    };
    const { folder } = await writeReport(recordOf([rowOf('doubt', 7, { traces })]), {
      folder: await tempFolder(),
      now,
    });
    const [header = [], row = []] = await readRows(folder, 'doubt.csv');
    const told = Object.fromEntries(header.map((name, at) => [name, row[at]]).slice(8));
    expect(told).toEqual({
      almoner_doubt: 'd1-0c4f',
      almoner_sent_at: '2026-03-01T10:00:00.000Z',
      almoner_key: 'spring-2.1',
      almoner_request_id: 'req-7',
      almoner_balance_before: '100',
      almoner_balance_in_doubt: '90',
      almoner_recipient_before: '5',
      almoner_recipient_in_doubt: '15',
      decision: '',
    });
  });

  test.each([';', '\t'] as const)('the input delimiter %j is used in every CSV file', async (delimiter) => {
    const record = recordOf([rowOf('paid', 1), rowOf('doubt', 2)], { manifest: { delimiter } });
    const { folder } = await writeReport(record, { folder: await tempFolder(), now });
    for (const name of ['results.csv', 'audit.csv', ...PARTS]) {
      const [header = [], ...lines] = await readRows(folder, name, delimiter);
      expect(header.length).toBeGreaterThan(3);
      for (const line of lines) expect(line).toHaveLength(header.length);
    }
  });

  test('formula cells are defused in the file, numbers and long ids stay as they are', async () => {
    const row = rowOf('refused', 1, {
      cells: ['1190000000000000017', '-5', '=HYPERLINK("x")', '@all'],
      error: '+error',
    });
    const { folder } = await writeReport(recordOf([row]), { folder: await tempFolder(), now });
    const raw = await readFile(join(folder, 'failed.csv'), 'utf8');
    expect(raw.split('\n')[1]).toBe(
      `1190000000000000017,-5,"'=HYPERLINK(""x"")",'@all,${row.order},refused,ALM_SEND_NOT_SENT,'+error`,
    );
  });

  test('an invalid row with too few or too many cells keeps all of them under the right columns', async () => {
    const rows = [rowOf('invalid', 1, { cells: ['only'] }), rowOf('invalid', 2, { cells: [...'abcdef'] })];
    const { folder } = await writeReport(recordOf(rows), { folder: await tempFolder(), now });
    const [, short, long] = await readRows(folder, 'failed.csv');
    expect(short?.slice(0, 5)).toEqual(['only', '', '', '', rows[0]?.order]);
    expect(long?.slice(0, 5)).toEqual(['a', 'b', 'c', 'd', rows[1]?.order]);
    expect(long?.slice(-2)).toEqual(['e', 'f']);
  });

  test('writing it twice gives the same bytes, at any time of day', async () => {
    const root = await tempFolder();
    const { folder } = await writeReport(vividBatch(), { folder: root, now });
    const first = await checksums(folder);
    await writeReport(vividBatch(), { folder: root, now: now + 86_400_000 });
    expect(await checksums(folder)).toEqual(first);
  });

  test('summary.json has its fixed shape, and the checksums of the other files', async () => {
    const { folder, files } = await writeReport(vividBatch(), { folder: await tempFolder(), now });
    const summary = await summaryOf(folder);
    expect(summary).toMatchObject({
      rehearsal: true,
      state: 'halted',
      rows: 3_000,
      counts: { paid: 2_706, doubt: 4, sending: 0 },
      tokens: { paid: '276720', doubt: '70' },
      retries: 41,
      rateLimited: 4,
      latencyMs: { p50: 100, p90: 200, p99: 750, max: 5_000 },
      pace: { allowedPerMinute: 500, usedPerMinute: 492 },
      checks: { countsTie: true, sumsTie: true },
      durationMs: null,
    });
    const { 'summary.json': own, ...others } = await checksums(folder);
    expect(own).toBeDefined();
    expect(Object.fromEntries(summary.files.map((file) => [file.name, file.sha256]))).toEqual(others);
    expect(files.at(-1)).toBe(join(folder, 'summary.json'));
    expect(files).toHaveLength(9);
  });

  test('audit.csv says who did what, when and why', async () => {
    const { folder } = await writeReport(recordOf([]), { folder: await tempFolder(), now });
    expect(await readRows(folder, 'audit.csv')).toEqual([
      ['at', 'who', 'what', 'why'],
      ['2026-03-01T09:00:00.000Z', 'ada', 'confirmed', 'spring games'],
      ['2026-03-01T09:01:00.000Z', 'bo', 'paused', ''],
    ]);
  });
});
