import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { RowView } from '../../src/ledger/views.js';
import { writeReport } from '../../src/report/write-report.js';
import { rowOf, START, streamedRecord } from '../support/ledger/batch-record.js';
import { tempFolder } from '../support/temp-folder.js';

const ROWS = 200_000;
const GROWTH_MAX_MB = 120;

function* manyRows(watch: () => void): Generator<RowView> {
  for (let index = 1; index <= ROWS; index += 1) {
    if (index % 20_000 === 0) watch();
    // Ever new error messages: the worst case for whatever is gathered beside the files.
    if (index % 10 === 0) yield rowOf('refused', index, { error: `no ${index.toString(36)} such thing` });
    else yield rowOf('paid', index);
  }
}

test('200,000 rows stream through without being held', async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('no garbage collector to call');
  const used = () => {
    collect();
    return process.memoryUsage.rss() / 1e6;
  };
  const record = streamedRecord(
    manyRows(() => {}),
    () => manyRows(() => seen.push(used())),
  );
  const seen: number[] = [];
  const before = used();
  const { folder } = await writeReport(record, { folder: await tempFolder(), now: START });
  expect(Math.max(...seen) - before).toBeLessThan(GROWTH_MAX_MB);
  expect((await stat(join(folder, 'results.csv'))).size).toBeGreaterThan(20e6);
  expect((await stat(join(folder, 'report.html'))).size).toBeLessThan(300_000);
});
