import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeReport } from '../../src/report/write-report.js';
import { recordOf, rowOf, START } from '../support/ledger/batch-record.js';
import { checksums, readRows } from '../support/program/report-files.js';
import { tempFolder } from '../support/temp-folder.js';

const secretCells = ['cell-member', 'cell-tokens', 'cell-reason', 'ada@secret.example'];
const rows = [
  rowOf('paid', 1, { cells: secretCells }),
  rowOf('paid', 5, { index: 2, cells: secretCells, reason: '=1+1', balanceAfter: '987654321' }),
  rowOf('paid', 7, { index: 3, cells: secretCells, evidence: 'evidence-of-it', reference: 'ref-of-it' }),
  rowOf('refused', 8, { index: 4, cells: secretCells, error: 'error-of-it' }),
  rowOf('doubt', 9, { index: 5, cells: secretCells }),
];

const PRIVATE = [
  ...secretCells,
  '987654321',
  'evidence-of-it',
  'ref-of-it',
  'error-of-it',
  String(rows[2]?.recipient),
  String(rows[3]?.member),
  String(rows[4]?.member),
  'spring-airdrop',
  'spring.csv',
  'meadow',
  'realm-7',
  'realm.example',
  'ada',
  'ALM_',
];

test('a public report holds member, tokens, reason, time and sums of what was paid, and nothing else', async () => {
  const root = await tempFolder();
  const { folder, files } = await writeReport(recordOf(rows), { folder: root, now: START, public: true });
  expect(await readRows(folder, 'public.csv')).toEqual([
    ['member', 'tokens', 'reason', 'time'],
    [rows[0]?.member, '10', 'spring games', '2026-03-01T09:00:01.209Z'],
    [rows[1]?.member, '-30', '=1+1', '2026-03-01T09:00:01.725Z'],
    [rows[2]?.member, '-40', 'spring games', '2026-03-01T09:00:01.983Z'],
  ]);
  expect(JSON.parse(await readFile(join(folder, 'public.json'), 'utf8'))).toEqual({
    sums: {
      given: { orders: 1, tokens: '10' },
      taken: { orders: 1, tokens: '30' },
      passedOn: { orders: 1, tokens: '40' },
    },
  });
  expect(files.map((file) => file.slice(folder.length + 1))).toEqual([
    'public.csv',
    'public.html',
    'public.json',
  ]);
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    for (const secret of PRIVATE) expect(text, `${secret} in ${file}`).not.toContain(secret);
  }
});

test('a public rehearsal says REHEARSAL', async () => {
  const record = recordOf(rows, { manifest: { rehearsal: true } });
  const { folder } = await writeReport(record, { folder: await tempFolder(), now: START, public: true });
  expect(await readFile(join(folder, 'public.html'), 'utf8')).toContain('<strong>REHEARSAL</strong>');
  expect(await readFile(join(folder, 'public.json'), 'utf8')).toContain('"rehearsal": true');
});

test('a public report of a batch that is half-way says so, and of which moment it is true', async () => {
  const half = recordOf([...rows, rowOf('planned', 11, { index: 6 })], { batch: { state: 'running' } });
  const { folder } = await writeReport(half, { folder: await tempFolder(), now: START, public: true });
  expect(await readFile(join(folder, 'public.html'), 'utf8')).toMatch(
    /As of 2026-03-01 \d\d:\d\d:\d\d UTC: not finished yet, more entries may follow\./,
  );
  expect(await readFile(join(folder, 'public.json'), 'utf8')).toMatch(/"unfinishedAt": "2026-03-01T/);
});

test('public and full report live side by side, whichever is written first', async () => {
  const [one, two] = [await tempFolder(), await tempFolder()];
  const record = recordOf(rows);
  for (const isPublic of [true, false])
    await writeReport(record, { folder: one, now: START, public: isPublic });
  for (const isPublic of [false, true])
    await writeReport(record, { folder: two, now: START, public: isPublic });
  expect(await checksums(one)).toEqual(await checksums(two));
  expect(await readdir(join(one, 'spring-airdrop', 'public'))).toHaveLength(3);
});
