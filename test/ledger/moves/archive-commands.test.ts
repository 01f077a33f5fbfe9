import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { almoner } from '../../support/program/almoner.js';
import { Program } from '../../support/program/program.js';

let world: Program;
afterEach(() => world.end());

const ROWS = 40;
const members = Array.from({ length: ROWS }, (_, i) => ({ member: String(5_000_000 + i), tokens: 100 }));
const missing = '5999999';
const csv = [
  'member,tokens,reference,reason',
  ...members.map(({ member }, i) => `${member},10,week-7/${i},Activity`),
  `${missing},10,week-7/gone,Activity`,
  '',
].join('\n');

async function json(...args: string[]) {
  const ran = await world.run(...args, '--json');
  return { ...ran, told: JSON.parse(ran.stdout) };
}

test('commands archive batches past their retention; report, status, history and undo read the archive', async () => {
  world = await Program.start({ store: 'embedded', members, env: { ALMONER_RETENTION_DAYS: '0' } });
  await world.file('week.csv', csv);
  const run = await json('run', 'week.csv', '--yes');
  expect(run.status, run.stderr).toBe(4);
  const { batch } = run.told;
  const written = join(world.folder, 'reports', batch);

  const archives = join(world.folder, 'data', 'archive');
  const [realm = ''] = await readdir(archives);
  expect(await readdir(join(archives, realm))).toEqual([`${batch}.alm`]);

  const again = await json('report', batch, '--out', join(world.folder, 'again'));
  expect(again.status, again.stderr).toBe(0);
  const files = await readdir(written);
  expect(await readdir(join(world.folder, 'again', batch))).toEqual(files);
  for (const name of files.filter((file) => file.endsWith('.csv')))
    expect(await readFile(join(world.folder, 'again', batch, name), 'utf8'), name).toBe(
      await readFile(join(written, name), 'utf8'),
    );

  expect((await json('status', batch)).told).toMatchObject({
    state: 'done',
    counts: { paid: ROWS, refused: 1 },
  });
  const history = await json('history', '5000003');
  expect(history.stdout).toContain(`${batch}-4`);

  // The same file is the same batch, so it pays no row twice.
  expect((await json('run', 'week.csv', '--yes')).told).toMatchObject({ batch, existing: true });
  // The reference of the refused row is free. A row that stands in for the archived order is refused.
  const retried = await json('dead', 'retry', '--batch', batch);
  expect(retried.stdout).not.toContain('"retried":1');
  await world.file(
    'mended.csv',
    `member,tokens,reference,almoner_order\n5000001,10,week-7/gone,${batch}-41\n`,
  );
  const mended = await json('plan', 'mended.csv');
  expect(mended.status).toBe(3);
  expect(mended.stdout).toContain('ALM_ROW_ORDER_ARCHIVED');
  await world.file('free.csv', 'member,tokens,reference\n5000001,10,week-7/gone\n5000002,10,week-7/2\n');
  const free = await json('plan', 'free.csv');
  expect(free.told).toMatchObject({ rows: 2, duplicates: 1 });

  const undo = await world.run('undo', batch, '--out', join(world.folder, 'undo.csv'), '--json');
  expect(undo.status, undo.stderr).toBe(0);
  const undone = await json('run', 'undo.csv', '--yes');
  expect(undone.told, undone.stderr).toMatchObject({ counts: { paid: ROWS } });
  for (const { member } of members) expect(await world.admin.balance('town', member)).toBe(100);
}, 120_000);

test('read-only commands do not archive batches past their retention', async () => {
  world = await Program.start({ store: 'embedded', members });
  await world.file('week.csv', csv);
  expect((await world.run('run', 'week.csv', '--yes')).status).toBe(4);
  const env = { ...world.env, ALMONER_RETENTION_DAYS: '0' };
  const ask = async (...args: string[]) => (await almoner(args, { cwd: world.folder, env })).status;
  const archives = () => readdir(join(world.folder, 'data', 'archive')).catch(() => []);
  expect([await ask('member', members[0]?.member ?? ''), await ask('wallets', 'wa')]).toEqual([0, 0]);
  expect(await archives()).toEqual([]);
  expect(await ask('status')).toBe(0);
  expect(await archives()).toHaveLength(1);
}, 120_000);
