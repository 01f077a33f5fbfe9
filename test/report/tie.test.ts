import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { AlmonerError } from '../../src/core/errors/error.js';
import type { BatchRecord } from '../../src/ledger/views.js';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/ledger/batch-record.js';
import { checksums } from '../support/program/report-files.js';
import { tempFolder } from '../support/temp-folder.js';

const rows = [rowOf('paid', 1), rowOf('refused', 2), rowOf('invalid', 3), rowOf('duplicate', 4)];
const good = recordOf(rows);
const { manifest } = good.batch;

const wrong: [string, BatchRecord][] = [
  ['a row is missing', { ...recordOf(rows.slice(0, 3)), batch: good.batch }],
  ['a count is off', recordOf(rows, { batch: { counts: { ...good.batch.counts, paid: 2 } } })],
  ['a sum is off by one', recordOf(rows, { batch: { sums: { ...good.batch.sums, paid: 11n } } })],
  ['the manifest has other rows', recordOf(rows, { manifest: { rows: 5 } })],
  [
    'the manifest has other tokens',
    recordOf(rows, { manifest: { tokens: { ...manifest.tokens, credit: 1n } } }),
  ],
  [
    'the manifest has other orders',
    recordOf(rows, { manifest: { orders: { ...manifest.orders, debit: 1 } } }),
  ],
  ['a row comes twice', recordOf([...rows, rowOf('duplicate', 4)])],
  ['a row between two others is missing', recordOf([rowOf('paid', 1), rowOf('paid', 9)])],
  [
    'a row of a recovered batch comes twice',
    recordOf([rowOf('paid', 9), rowOf('paid', 9)], { batch: { recovered: true } }),
  ],
  ['an order has no content', recordOf([rowOf('paid', 1, { tokens: null })])],
];

describe('records that do not add up', () => {
  test.each(wrong)('%s: no report is written', async (_, record) => {
    for (const isPublic of [false, true]) {
      const folder = await tempFolder();
      const error = await writeReport(record, { folder, now: START, public: isPublic }).catch(
        (thrown) => thrown,
      );
      expect(error).toBeInstanceOf(AlmonerError);
      expect(error).toMatchObject({ code: 'ALM_LEDGER_DOES_NOT_TIE' });
      expect(error.details.length).toBeGreaterThan(0);
      expect(await readdir(folder)).toEqual([]);
    }
  });

  test('a report that stood before is left as it was', async () => {
    const folder = await tempFolder();
    await writeReport(good, { folder, now: START });
    const before = await checksums(folder);
    for (const [, record] of wrong)
      await expect(writeReport(record, { folder, now: START })).rejects.toThrow(AlmonerError);
    expect(await checksums(folder)).toEqual(before);
  });

  test('a recovered batch has only the rows that journals know, and ties', async () => {
    const record = recordOf([rowOf('paid', 1), rowOf('paid', 9)], { batch: { recovered: true } });
    await writeReport(record, { folder: await tempFolder(), now: START });
  });

  test('records that add up pass, including sums beyond 2^53', async () => {
    const huge = Array.from({ length: 3 }, (_, at) =>
      rowOf('paid', at + 1, { tokens: Number.MAX_SAFE_INTEGER }),
    );
    await writeReport(recordOf(huge), { folder: await tempFolder(), now: START });
  });
});
