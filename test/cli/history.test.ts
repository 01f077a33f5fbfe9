import { afterAll, beforeAll, expect, it } from 'vitest';
import { document, field, textField } from '../support/document.js';
import { Program } from '../support/program/program.js';

let world: Program;
beforeAll(async () => {
  world = await Program.start({
    members: [
      { member: '1', tokens: 100 },
      { member: '12', tokens: 100 },
    ],
  });
});
afterAll(() => world.end());

it('tells every order that touched a member, as giver and as recipient, newest last', {
  timeout: 120_000,
}, async () => {
  await world.file('one.csv', 'member,tokens,reference,reason\n1,5,a1,won\n12,6,a2,lost\n');
  await world.file('two.csv', 'member,recipient,tokens\n12,1,7\n12,404,8\n');
  const one = textField(await world.run('run', 'one.csv', '--yes', '--json'), 'batch');
  const two = textField(await world.run('run', 'two.csv', '--yes', '--json'), 'batch');

  const told = await world.run('history', '1', '--json');
  expect([told.status, document(told)]).toMatchObject([
    0,
    {
      member: '1',
      orders: [
        {
          order: `${one}-1`,
          batch: one,
          op: 'credit',
          tokens: 5,
          role: 'member',
          reason: 'won',
          reference: 'a1',
          state: 'paid',
        },
        { order: `${two}-1`, op: 'transfer', role: 'recipient', counterpart: '12', tokens: 7, state: 'paid' },
      ],
    },
  ]);
  const person = await world.run('history', '12');
  expect(person.stdout).toMatch(/^3 orders touched member 12:\n/);
  expect(person.stdout).toMatch(/move 8 from 12 to 404 {2}refused/);
  expect(person.stdout).toContain('Next:');

  expect(field(await world.run('history', '1', '--since', '2099-01-01', '--json'), 'orders')).toEqual([]);
  expect(field(await world.run('history', '1', '--since', '1d', '--json'), 'orders')).toHaveLength(2);
  const nobody = await world.run('history', '999');
  expect([nobody.status, nobody.stdout]).toEqual([0, expect.stringContaining('No order')]);
});

it('refuses what is no member id and no date', { timeout: 120_000 }, async () => {
  expect((await world.run('history', '1.19E+18')).status).toBe(2);
  expect((await world.run('history', '1', '--since', 'yesterday')).status).toBe(2);
});
