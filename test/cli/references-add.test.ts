import { afterAll, beforeAll, expect, test } from 'vitest';
import { document } from '../support/document.js';
import { Program } from '../support/program/program.js';

/** References that another ledger, or another tool, has paid. */
let world: Program;
beforeAll(async () => {
  world = await Program.start({ members: ['1', '2', '3'].map((member) => ({ member, tokens: 0 })) });
  await world.file(
    'paid.csv',
    'member,tokens,reference,almoner_order,almoner_state\n1,5,a,x-1,paid\n2,5,b,x-2,paid\n3,5,c,x-3,refused\n3,5,,x-4,paid\n',
  );
  await world.file('bare.csv', 'reference\nd\n');
});
afterAll(() => world.end());

test('are shown before they are marked, and nothing is marked without a yes', async () => {
  const asked = await world.run('references', 'add', 'paid.csv', 'bare.csv');
  expect([asked.status, asked.stderr]).toEqual([
    2,
    expect.stringMatching(
      /paid\.csv: 2 references, 2 with what was paid; left out: 1 row without one, 1 row that was/,
    ),
  ]);
  const added = await world.run('references', 'add', 'paid.csv', 'bare.csv', '--yes', '--json');
  expect([added.status, document(added)]).toMatchObject([
    0,
    { marked: 3, files: [{ marked: 2, spent: 0 }, { marked: 1 }] },
  ]);
  const again = await world.run('references', 'add', 'paid.csv', '--yes', '--json');
  expect(document(again)).toMatchObject({ marked: 0, files: [{ spent: 2 }] });
});

test('are spent from then on: the same order is a duplicate, another one a fault', async () => {
  await world.file('same.csv', 'member,tokens,reference\n1,5,a\n3,5,c\n');
  const ran = await world.run('run', 'same.csv', '--yes', '--json');
  expect([ran.status, document(ran)]).toMatchObject([0, { counts: { paid: 1, duplicate: 1 } }]);
  expect(await world.appliedCount()).toBe(1);
  await world.file('other.csv', 'member,tokens,reference\n2,50,b\n2,5,d\n');
  const refused = await world.run('plan', 'other.csv', '--json');
  expect([refused.status, document(refused)]).toMatchObject([
    3,
    { faults: [{ line: 2, code: 'ALM_ROW_REFERENCE_SPENT' }, { line: 3 }] },
  ]);
});

test('a file without such a column is refused, and so is none', async () => {
  await world.file('without.csv', 'member,tokens\n1,5\n');
  const refused = await world.run('references', 'add', 'without.csv', '--yes');
  expect([refused.status, refused.stderr]).toEqual([3, expect.stringContaining('no column reference')]);
  expect((await world.run('references', 'add')).status).toBe(2);
});

test('two columns for the reference are refused, and nothing is marked', async () => {
  await world.file('two.csv', 'reference,member,tokens,Reference\nold-1,1,5,e\n');
  const refused = await world.run('references', 'add', 'two.csv', '--yes', '--json');
  expect([refused.status, document(refused)]).toMatchObject([
    3,
    { error: { code: 'ALM_FILE_COLUMN_TWICE' } },
  ]);
  await world.file('two-members.csv', 'member,user_id,tokens,reference\n1,2,5,k\n');
  const shown = await world.run('references', 'add', 'two-members.csv');
  expect(shown.stderr).toContain('1 reference, 0 with what was paid');
});

test('a reference that stands for two different orders is said before it is marked', async () => {
  await world.file('differs.csv', 'member,tokens,reference\n1,5,f\n1,6,f\n1,5,g\n1,5,g\n');
  const shown = await world.run('references', 'add', 'differs.csv');
  expect(shown.stderr).toMatch(
    /1 reference stands for different orders.*"f": differs\.csv line 2, differs\.csv line 3/,
  );
});

test('orders that a paid undo took back are left out, and the preview says so', async () => {
  const report = 'member,op,tokens,reference,almoner_order,almoner_state\n';
  await world.file(
    'given.csv',
    `${report}1,credit,5,h,may-1,paid\n2,credit,5,i,may-2,paid\n3,credit,5,j,may-3,paid\n`,
  );
  // The second undo failed; the third is that of another ledger's order with the same id.
  await world.file(
    'undone.csv',
    `${report}1,debit,5,undo:may-1,back-1,paid\n2,debit,5,undo:may-2,back-2,refused\n9,debit,7,undo:may-3,back-3,paid\n`,
  );
  const shown = await world.run('references', 'add', 'given.csv', 'undone.csv');
  expect(shown.stderr).toMatch(
    /given\.csv: 2 references, 2 with what was paid; left out: 1 order that was undone/,
  );
  const added = await world.run('references', 'add', 'given.csv', 'undone.csv', '--yes', '--json');
  expect(document(added)).toMatchObject({
    marked: 4,
    files: [
      { marked: 2, undone: 1 },
      { marked: 2, undone: 0 },
    ],
  });
  await world.file('again.csv', 'member,tokens,reference\n1,7,h\n');
  expect(document(await world.run('plan', 'again.csv', '--json'))).toMatchObject({ payable: { orders: 1 } });
});

test('an order that stands in two rows is marked although one of them was undone: two ledgers may have paid it', async () => {
  const report = 'member,op,tokens,reference,almoner_order,almoner_state\n';
  for (const ledger of ['old', 'older'])
    await world.file(`${ledger}.csv`, `${report}1,credit,5,l,june-1,paid\n`);
  await world.file('one-undone.csv', `${report}1,debit,5,undo:june-1,back-4,paid\n`);
  const files = ['old.csv', 'older.csv', 'one-undone.csv'];
  const added = await world.run('references', 'add', ...files, '--yes', '--json');
  expect(document(added)).toMatchObject({ marked: 2, files: [{ marked: 1 }, { spent: 1 }, { marked: 1 }] });
});
