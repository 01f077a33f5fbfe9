import { afterAll, beforeAll, expect, test } from 'vitest';
import { document } from '../support/document.js';
import { Program } from '../support/program/program.js';

let world: Program;
beforeAll(async () => {
  world = await Program.start({ members: [{ member: '1', tokens: 0 }] });
});
afterAll(() => world.end());

test('rows that were skipped as invalid end a run with 4, and the others are paid', async () => {
  await world.file('pay.csv', 'member,tokens\n1,5\n1,five\n');
  const ran = await world.run('run', 'pay.csv', '--yes', '--skip-invalid', '--json');
  expect([ran.status, document(ran)]).toMatchObject([4, { state: 'done', counts: { paid: 1, invalid: 1 } }]);
  expect(await world.admin.balance('town', '1')).toBe(5);
});
