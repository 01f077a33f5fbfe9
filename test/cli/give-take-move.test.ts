import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { document, textField } from '../support/document.js';
import { Program } from '../support/program/program.js';

/** A debit is not a payment: fifty given and fifty taken are not a hundred paid. This holds for every displayed sum. */
let world: Program;
beforeAll(async () => {
  const members = ['1', '2', '3'].map((member) => ({ member, tokens: 10_000 }));
  world = await Program.start({ members });
  const head = 'member,recipient,op,tokens,reference';
  await world.file(
    'mixed.csv',
    `${head}\n1,,credit,50,a\n2,,debit,50,b\n1,3,transfer,20,c\n404,,debit,7,d\n`,
  );
  await world.file('debits.csv', 'member,tokens\n1,-5769\n');
});
afterAll(() => world.end());

const MIXED = 'give 50 · take 57 · move 20 · net −7 tokens';

describe('what a file gives, takes and moves', { timeout: 120_000 }, () => {
  it('is told apart by its plan, and in what is left to send', async () => {
    const plan = await world.run('plan', 'mixed.csv');
    expect(plan.stdout).toContain(`Amounts    ${MIXED}`);
    expect(plan.stdout).toContain(`To send    4 orders: ${MIXED}`);
    expect(document(await world.run('plan', 'mixed.csv', '--json'))).toMatchObject({
      payable: { orders: 4, tokens: '127', amounts: { credit: '50', debit: '57', transfer: '20' } },
    });
    const debits = await world.run('plan', 'debits.csv');
    expect(debits.stdout).toContain('To send    1 order: take 5,769 · net −5,769 tokens');
    expect(debits.stdout).not.toMatch(/\bpays?\b/i);
  });

  it('is told apart by status, report and undo of a mixed batch, whose sums per state are called absolute', async () => {
    const ran = await world.run('run', 'mixed.csv', '--yes', '--json');
    const batch = textField(ran, 'batch');
    expect(document(ran)).toMatchObject({ amounts: { credit: '50', debit: '57', transfer: '20' } });
    const status = await world.run('status', batch);
    expect(status.stdout).toContain(`${MIXED} in all`);
    expect(status.stdout).toMatch(/paid +3 +120 tokens, absolute/);
    expect((await world.run('status')).stdout).toContain('(give 50 · take 57 · move 20 · net −7)');
    const folder = textField(ran, 'report');
    const page = await readFile(join(folder, 'report.html'), 'utf8');
    expect(page).toContain('gave 50 · took 50 · moved 20 · net 0 points');
    expect(page).toContain('Points, absolute');
    expect(JSON.parse(await readFile(join(folder, 'summary.json'), 'utf8'))).toMatchObject({ net: '0' });
    const undo = await world.run('undo', batch);
    expect(undo.stdout).toContain('takes back 3 orders: give 50 · take 50 · move 20 · net 0 tokens.');
    const again = await world.run('plan', `undo-${batch}.csv`);
    expect(again.stdout).toContain('To send    3 orders: give 50 · take 50 · move 20 · net 0 tokens');
  });

  it('leaves duplicates out of what would be sent, kind by kind', async () => {
    await world.file('more.csv', 'member,tokens,reference\n1,50,a\n2,-50,b\n2,-9,e\n');
    const plan = await world.run('plan', 'more.csv');
    expect(plan.stdout).toContain('Amounts    give 50 · take 59 · net −9 tokens');
    expect(plan.stdout).toContain('To send    1 order: take 9 · net −9 tokens');
  });

  it('has the right word where a batch does one thing only', async () => {
    const ran = await world.run('run', 'debits.csv', '--yes');
    expect(ran.stdout).toMatch(/paid +1 +5,769 tokens taken/);
    const folder = /Report: (.+)$/m.exec(ran.stdout)?.[1] ?? '';
    const page = await readFile(join(folder, 'report.html'), 'utf8');
    expect(page).toContain('The only order carried out');
    expect(page).toContain('took 5,769 · net −5,769');
  });
});
