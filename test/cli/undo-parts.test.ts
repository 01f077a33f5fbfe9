import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { document, field, textField } from '../support/document.js';
import { Program, REALM_ID } from '../support/program/program.js';

/** Undoing what members have spent: who holds how much, what is left of it, and the rest later. */
const TIMEOUT_MS = 180_000;
const MANY = Array.from({ length: 30 }, (_, at) => String(100 + at));
let world: Program;
beforeAll(async () => {
  const members = [...['21', '22', '23', '2'], ...MANY].map((member) => ({ member, tokens: 0 }));
  world = await Program.start({ members });
});
afterAll(() => world.end());

const balances = (...members: string[]) =>
  Promise.all(members.map((member) => world.admin.balance(REALM_ID, member)));
const ran = async (name: string, rows: readonly string[], status = 0) => {
  await world.file(name, `member,tokens,reference\n${rows.join('\n')}\n`);
  const run = await world.run('run', name, '--yes', '--json');
  expect(run.status, run.stdout + run.stderr).toBe(status);
  return textField(run, 'batch');
};
const rowsOf = async (file: string) =>
  (await readFile(join(world.folder, file), 'utf8')).trim().split('\n').slice(1);

it('takes what is left, remembers it, and takes the rest when it is there', {
  timeout: TIMEOUT_MS,
}, async () => {
  const batch = await ran('pay.csv', ['21,50,a1', '22,50,a2', '23,50,a3']);
  await ran('spend.csv', ['21,-30,s1', '22,-50,s2']);

  const short = [
    { member: '21', wanted: '50', balance: '20' },
    { member: '22', wanted: '50', balance: '0' },
  ];
  const shown = await world.run('undo', batch, '--check', '--out', 'whole.csv', '--json');
  expect(document(shown)).toMatchObject({ rows: 3, tokens: '150', short });
  const skipped = await world.run('undo', batch, '--skip-short', '--out', 'skip.csv', '--json');
  expect(document(skipped)).toMatchObject({ rows: 1, short, leftOut: [{ why: 'spent', orders: 2 }] });

  const left = await world.run('undo', batch, '--take-left', '--out', 'left.csv');
  expect(left.stdout).toMatch(
    /2 members hold too little:\n +21 holds 20 of 50 to be taken back\n +22 holds 0 of 50/,
  );
  expect(await rowsOf('left.csv')).toEqual([
    `21,,debit,20,undo:${batch}-1,undo of ${batch}-1`,
    `23,,debit,50,undo:${batch}-3,undo of ${batch}-3`,
  ]);
  const parts = await world.run('run', 'left.csv', '--yes', '--json');
  expect([parts.status, await balances('21', '22', '23')]).toEqual([0, [0, 0, 0]]);
  const part = textField(parts, 'batch');

  // The part is remembered: nothing takes more than the rest, under whatever reference.
  for (const [row, code] of [
    [`21,-50,undo:${batch}-1`, 'ALM_ROW_REFERENCE_SPENT'],
    [`21,-31,undo:${part}-1`, 'ALM_ROW_UNDO_OTHER'],
    [`21,20,undo:${part}-1`, 'ALM_ROW_UNDO_OF_UNDO'],
    [`22,-30,undo:${part}-1`, 'ALM_ROW_UNDO_OF_UNDO'],
    [`23,-1,undo:${part}-2`, 'ALM_ROW_UNDO_OF_UNDO'],
    ['21,7,a1', 'ALM_ROW_REFERENCE_SPENT'],
  ] as const) {
    await world.file('typed.csv', `member,tokens,reference\n${row}\n`);
    const typed = await world.run('run', 'typed.csv', '--yes', '--json');
    expect([row, typed.status, field(typed, 'faults.0.code')]).toEqual([row, 3, code]);
  }

  const again = await world.run('undo', batch, '--out', 'rest.csv', '--json');
  expect(document(again)).toMatchObject({
    rows: 2,
    tokens: '80',
    rest: [{ order: `${batch}-1`, taken: '20', left: '30' }],
    leftOut: [{ why: 'undone', orders: 1, named: [`${batch}-3`] }],
  });
  await ran('earn.csv', ['21,25,e1']);
  expect((await world.run('undo', batch, '--only', '21', '--take-left', '--out', 'more.csv')).status).toBe(0);
  expect(await rowsOf('more.csv')).toEqual([`21,,debit,25,undo:${part}-1,undo of ${batch}-1`]);
  const more = await world.run('run', 'more.csv', '--yes', '--json');
  await ran('earn-2.csv', ['21,5,e2']);
  await world.run('undo', batch, '--only', 'line:2', '--out', 'last.csv');
  expect(await rowsOf('last.csv')).toEqual([
    `21,,debit,5,undo:${textField(more, 'batch')}-1,undo of ${batch}-1`,
  ]);
  expect((await world.run('run', 'last.csv', '--yes')).status).toBe(0);
  expect(await balances('21')).toEqual([0]);
  const over = await world.run('undo', batch, '--out', 'over.csv', '--json');
  expect(document(over)).toMatchObject({ rows: 1, alreadyUndone: [`${batch}-1`, `${batch}-3`], rest: [] });
  const verified = await world.run('verify');
  expect(verified.status, verified.stdout).toBe(0);
});

it('takes back what is named by member or line, and asks where a number is both', {
  timeout: TIMEOUT_MS,
}, async () => {
  const batch = await ran('few.csv', ['22,4,f1', '2,5,f2', '23,6,f3', '22,7,f4']);
  const members = async (...only: string[]) => {
    const file = `only-${only.join('-').replaceAll(':', '')}.csv`;
    const undone = await world.run('undo', batch, ...only.flatMap((one) => ['--only', one]), '--out', file);
    return undone.status === 0 ? (await rowsOf(file)).map((row) => row.split(',')[0]) : undone.stderr;
  };
  expect(await members('22')).toEqual(['22', '22']);
  expect(await members('4', '5')).toEqual(['23', '22']);
  expect(await members('line:2', 'member:2')).toEqual(['22', '2']);
  expect(await members('2')).toMatch(/--only 2 is a member and a line: say member:2 or line:2/);
  expect(await members('77')).toMatch(/No order has the member or the line of --only 77/);
  expect(await members('ann')).toMatch(/is neither a member nor a line/);
});

it('is not halted by members who have spent their points', { timeout: TIMEOUT_MS }, async () => {
  const batch = await ran(
    'many.csv',
    MANY.map((member) => `${member},3,m-${member}`),
  );
  await ran(
    'spent.csv',
    MANY.slice(0, 29).map((member) => `${member},-3,n-${member}`),
  );
  expect((await world.run('undo', batch, '--out', 'many-undo.csv')).status).toBe(0);
  const undone = await world.run('run', 'many-undo.csv', '--yes', '--in-order', '--json');
  expect([undone.status, field(undone, 'state'), field(undone, 'counts')]).toEqual([
    ...[4, 'done', { refused: 29, paid: 1 }],
  ]);
  // A file that is no undo is: five refusals before anything was paid speak of the file.
  const more = MANY.map((member) => `${member},-9,o-${member}`);
  await world.file('takes.csv', `member,tokens,reference\n${more.join('\n')}\n`);
  const halted = await world.run('run', 'takes.csv', '--yes', '--in-order', '--json');
  expect([halted.status, field(halted, 'reason.code')]).toEqual([5, 'ALM_BATCH_REFUSALS']);
});
