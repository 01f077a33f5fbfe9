import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Program } from '../support/program/program.js';

let world: Program;
afterEach(() => world.end());

const ids = Array.from({ length: 30 }, (_, n) => String(7_000_000 + n));
const members = ids.map((member) => ({ member, tokens: 10_000 }));
const bare = (ending = '\n') => ['member,tokens', ...ids.map((id, i) => `${id},${i + 1}`), ''].join(ending);
const referenced = (rows = ids, tokens = (i: number) => i + 1) =>
  ['member,tokens,reference', ...rows.map((id, i) => `${id},${tokens(i)},week-1-${i}`), ''].join('\n');

async function json(...args: string[]) {
  const ran = await world.run(...args, '--json');
  return { status: ran.status, told: JSON.parse(ran.stdout), stderr: ran.stderr };
}

test('the same file again, renamed, or with other line ends and delimiter is the same batch', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare());
  const first = await json('run', 'a.csv', '--yes');
  expect(first.status, first.stderr).toBe(0);
  await world.file('renamed.csv', bare());
  await world.file('windows.csv', bare('\r\n'));
  await world.file('german.csv', `sep=;\r\n${bare('\r\n').replaceAll(',', ';')}`);
  for (const name of ['a.csv', 'renamed.csv', 'windows.csv', 'german.csv']) {
    const again = await json('run', name, '--yes');
    expect(again.told).toMatchObject({
      batch: first.told.batch,
      existing: true,
      state: 'done',
      counts: { paid: 30 },
    });
    expect(again.status).toBe(0);
  }
  expect(await world.applied()).toHaveLength(30);
});

test('importing from two terminals at once makes one batch', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare());
  const both = await Promise.all([
    json('import', 'a.csv', '--yes'),
    json('import', 'a.csv', '--yes'),
    json('import', 'a.csv', '--yes'),
  ]);
  expect(new Set(both.map(({ told }) => told.batch)).size).toBe(1);
  expect(both.filter(({ told }) => told.existing === false).length).toBeLessThanOrEqual(1);
  const worked = await json('run', 'a.csv', '--yes');
  expect(worked.told).toMatchObject({ state: 'done', counts: { paid: 30 } });
  expect(await world.applied()).toHaveLength(30);
});

test('a file that repeats most of an earlier one is refused, naming it; --again pays on purpose', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', bare());
  const first = await json('run', 'a.csv', '--yes');
  await world.file('b.csv', `${bare()}7000001,99\n`);
  const refused = await json('run', 'b.csv', '--yes');
  expect(refused.status).toBe(3);
  expect(refused.told.faults).toMatchObject([
    { code: 'ALM_PLAN_LOOKS_PAID', message: expect.stringContaining(first.told.batch) },
  ]);
  expect(await world.applied()).toHaveLength(30);
  const meant = await json('run', 'b.csv', '--yes', '--again', 'second round');
  expect(meant.status, meant.stderr).toBe(0);
  expect(await world.applied()).toHaveLength(61);
});

test('one more row under the same references pays only that row', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', referenced());
  expect((await json('run', 'a.csv', '--yes')).status).toBe(0);
  await world.file('b.csv', `${referenced()}7000001,500,week-1-new\n`);
  const plan = await json('plan', 'b.csv');
  expect(plan.told).toMatchObject({ duplicates: 30, rows: 31, faults: [] });
  const more = await json('run', 'b.csv', '--yes');
  expect(more.status, more.stderr).toBe(0);
  expect(more.told).toMatchObject({ existing: false, counts: { paid: 1, duplicate: 30 } });
  expect(await world.applied()).toHaveLength(31);
});

test('a spent reference with other content is a fault that names the order', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', referenced());
  const first = await json('run', 'a.csv', '--yes');
  await world.file(
    'b.csv',
    referenced(ids.slice(0, 1), () => 77),
  );
  const refused = await json('run', 'b.csv', '--yes');
  expect(refused).toMatchObject({
    status: 3,
    told: { faults: [{ line: 2, column: 'reference', code: 'ALM_ROW_REFERENCE_SPENT' }] },
  });
  expect(refused.told.faults[0].message).toContain(`${first.told.batch}-1`);
});

test('the mended failed.csv pays once; retrying the old order afterwards is refused', async () => {
  const [missing = '', ...rest] = ids;
  world = await Program.start({ members: members.slice(1) });
  await world.file('a.csv', referenced([...rest, missing]));
  const first = await json('run', 'a.csv', '--yes');
  expect(first).toMatchObject({ status: 4, told: { counts: { paid: 29, refused: 1 } } });
  await world.admin.putMembers('town', [{ member: missing, tokens: 0 }]);
  const failed = await readFile(join(first.told.report, 'failed.csv'), 'utf8');
  await world.file('mended.csv', failed);
  const mended = await json('run', 'mended.csv', '--yes');
  expect(mended.status, mended.stderr).toBe(0);
  expect(mended.told).toMatchObject({ counts: { paid: 1 } });
  const retry = await world.run('dead', 'retry', '--batch', first.told.batch, '--json');
  expect(retry.status).not.toBe(0);
  await world.file('mended-otherwise.csv', failed.replace('week-1-29', 'week-1-other'));
  const twice = await json('run', 'mended-otherwise.csv', '--yes');
  expect(twice).toMatchObject({ status: 3, told: { faults: [{ code: 'ALM_ROW_ORDER_REPLACED' }] } });
  expect(await world.applied()).toHaveLength(30);
});

test('running paid.csv, or a row whose order may still be paid, is a fault', async () => {
  world = await Program.start({ members });
  await world.file('a.csv', referenced());
  const first = await json('run', 'a.csv', '--yes', '--first', '10');
  for (const part of ['paid.csv', 'unprocessed.csv']) {
    await world.file('again.csv', await readFile(join(first.told.report, part), 'utf8'));
    const refused = await json('run', 'again.csv', '--yes');
    expect(refused.status).toBe(3);
    expect(refused.told.faults[0].code).toBe('ALM_ROW_ORDER_MAY_BE_PAID');
  }
  expect(await world.applied()).toHaveLength(10);
});

test('stop, undo, correct and run with the same references: every member ends with the corrected amount', async () => {
  world = await Program.start({ members });
  await world.file(
    'wrong.csv',
    referenced(ids, () => 100),
  );
  const wrong = await json('run', 'wrong.csv', '--yes', '--first', '12');
  expect(wrong.told.counts).toMatchObject({ paid: 12, planned: 18 });
  expect((await world.run('cancel', wrong.told.batch, '--json')).status).toBe(0);
  const undo = await world.run('undo', wrong.told.batch, '--out', 'undo.csv', '--json');
  expect(undo.status, undo.stderr).toBe(0);
  for (const times of [1, 2]) {
    const undone = await json('run', 'undo.csv', '--yes');
    expect(undone.told, `time ${times}`).toMatchObject({ state: 'done', counts: { paid: 12 } });
  }
  await world.file(
    'right.csv',
    referenced(ids, () => 10),
  );
  const right = await json('run', 'right.csv', '--yes');
  expect(right.status, `${right.stderr}${JSON.stringify(right.told)}`).toBe(0);
  expect(right.told).toMatchObject({ counts: { paid: 30 } });
  for (const member of ids) expect(await world.admin.balance('town', member)).toBe(10_010);
});
