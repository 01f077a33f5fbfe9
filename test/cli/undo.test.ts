import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { document, field, textField } from '../support/document.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

const TIMEOUT_MS = 120_000;
let store: TestRedis;
let world: Program;
beforeAll(async () => {
  store = await startRedis();
  world = await Program.start({
    env: { REDIS_URL: store.url },
    members: [
      { member: '1', tokens: 100 },
      { member: '2', tokens: 100 },
    ],
  });
});
afterAll(async () => {
  await world.end();
  await store.stop();
});

const balances = () => Promise.all(['1', '2'].map((member) => world.admin.balance(REALM_ID, member)));

it('takes back exactly what was paid, once, and frees the references', { timeout: TIMEOUT_MS }, async () => {
  const rows = ['1,,credit,5,a1,oops', '2,,debit,6,a2,', '1,2,transfer,7,a3,', '404,,credit,8,a4,'];
  await world.file('pay.csv', `member,recipient,op,tokens,reference,reason\n${rows.join('\n')}\n`);
  const ran = await world.run('run', 'pay.csv', '--yes', '--json');
  expect(ran.status).toBe(4);
  const batch = textField(ran, 'batch');
  expect(await balances()).toEqual([98, 101]);

  const undone = await world.run('undo', batch, '--json');
  expect([undone.status, document(undone)]).toMatchObject([
    0,
    {
      ...{ batch, rows: 3, tokens: '18', alreadyUndone: [], doubts: [], paidOnWord: [] },
      leftOut: [{ why: 'refused', orders: 1, tokens: '8', named: [`${batch}-4`] }],
    },
  ]);
  const file = `undo-${batch}.csv`;
  expect(await readFile(join(world.folder, file), 'utf8')).toBe(
    [
      'member,recipient,op,tokens,reference,reason',
      `1,,debit,5,undo:${batch}-1,undo of ${batch}-1: oops`,
      `2,,credit,6,undo:${batch}-2,undo of ${batch}-2`,
      `2,1,transfer,7,undo:${batch}-3,undo of ${batch}-3`,
      '',
    ].join('\n'),
  );
  const overwritten = await world.run('undo', batch);
  expect([overwritten.status, overwritten.stderr]).toEqual([
    2,
    expect.stringContaining('ALM_BATCH_FILE_EXISTS'),
  ]);

  const undoing = await world.run('run', file, '--yes', '--json');
  expect(undoing.status).toBe(0);
  expect(await balances()).toEqual([100, 100]);

  // An undo is not undone: neither by the command, nor by what somebody types.
  const undo = textField(undoing, 'batch');
  const refused = await world.run('undo', undo, '--out', 'undo-undo.csv');
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringMatching(/An undo is not undone/)]);
  expect(refused.stderr).toContain('To give the points again, run a new file with references of its own.');
  await expect(readFile(join(world.folder, 'undo-undo.csv'))).rejects.toThrow();
  await world.file('typed.csv', `member,op,tokens,reference\n1,credit,5,undo:${undo}-1\n`);
  const typed = await world.run('run', 'typed.csv', '--yes', '--json');
  expect([typed.status, field(typed, 'faults.0.line'), field(typed, 'faults.0.code')]).toEqual([
    ...[3, 2, 'ALM_ROW_UNDO_OF_UNDO'],
  ]);

  // Not twice: neither by the same file, nor by a new one, nor by a copy with another row in it.
  expect((await world.run('run', file, '--yes')).status).toBe(0);
  const again = await world.run('undo', batch, '--out', 'again.csv', '--json');
  expect(document(again)).toMatchObject({
    file: null,
    rows: 0,
    alreadyUndone: [`${batch}-1`, `${batch}-2`, `${batch}-3`],
    leftOut: [
      { why: 'refused', orders: 1 },
      { why: 'undone', orders: 3, tokens: '18', message: 'undone already' },
    ],
  });
  const told = await world.run('undo', batch, '--out', 'again.csv');
  expect(told.stdout).toContain('Left out: 4 rows.');
  expect(told.stdout).toContain(
    `3 orders (give 5 · take 6 · move 7 · net −1), undone already: ${batch}-1, ${batch}-2, ${batch}-3`,
  );
  const copy = `${await readFile(join(world.folder, file), 'utf8')}2,,credit,1,other,\n`;
  await world.file('copy.csv', copy);
  const copied = await world.run('run', 'copy.csv', '--yes', '--json');
  expect([copied.status, field(copied, 'counts')]).toEqual([0, { paid: 1, duplicate: 3 }]);
  expect(await balances()).toEqual([100, 101]);

  // The references are free for the corrected rows.
  await world.file('corrected.csv', 'member,recipient,op,tokens,reference\n1,,credit,50,a1\n2,,debit,1,a2\n');
  const corrected = await world.run('run', 'corrected.csv', '--yes', '--json');
  expect([corrected.status, field(corrected, 'counts')]).toEqual([0, { paid: 2 }]);
  expect(await balances()).toEqual([150, 100]);
});

it('is refused while the batch may still pay', { timeout: TIMEOUT_MS }, async () => {
  await world.file('later.csv', 'member,tokens,reference\n1,5,b1\n');
  const imported = await world.run('import', 'later.csv', '--yes', '--json');
  const undone = await world.run('undo', textField(imported, 'batch'), '--out', 'later-undo.csv');
  expect([undone.status, undone.stderr]).toEqual([2, expect.stringContaining('No undo file was written')]);
  await expect(readFile(join(world.folder, 'later-undo.csv'))).rejects.toThrow();
});
