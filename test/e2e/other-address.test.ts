import { afterAll, beforeAll, expect, test } from 'vitest';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

let world: Program;
beforeAll(async () => {
  world = await Program.start({
    members: ['1', '2', '3'].map((member) => ({ member, tokens: 0 })),
  });
});
afterAll(() => world.end());

const RULE = `name: monthly
realm: town
period: month
audience: { members: [1, 2, 3] }
award: { tokens: 7 }
limits: { perRun: 100 }
reason: Monthly
`;

test('localhost for 127.0.0.1 pays no member twice: every command stops and names the earlier address', async () => {
  await world.file('pay.csv', 'member,tokens,reference\n1,5,a\n2,5,b\n');
  await world.file('more.csv', 'member,tokens,reference\n3,5,c\n');
  await world.file('monthly.yaml', RULE);
  const { ALMONER_REALM_URL: usual = '' } = world.env;
  const url = usual.replace('127.0.0.1', 'localhost');
  expect(url).not.toBe(usual);
  const first = await world.run('run', 'pay.csv', '--yes');
  expect(first.status, first.stderr).toBe(0);
  const rule = await world.run('rules', 'run', 'monthly.yaml', '--yes');
  expect(rule.status, rule.stderr).toBe(0);
  const paid = await world.applied();
  expect(paid).toHaveLength(5);

  const there = (...args: string[]) =>
    almoner(args, { cwd: world.folder, env: { ...world.env, ALMONER_REALM_URL: url } });
  for (const command of [
    ['plan', 'pay.csv'],
    ['run', 'pay.csv', '--yes'],
    ['import', 'pay.csv', '--yes'],
    ['rules', 'plan', 'monthly.yaml'],
    ['rules', 'run', 'monthly.yaml', '--yes'],
  ]) {
    const ran = await there(...command);
    expect(ran.status, `${command.join(' ')}\n${ran.stdout}${ran.stderr}`).toBe(3);
    expect(`${ran.stdout}${ran.stderr}`).toContain('ALM_PLAN_OTHER_ADDRESS');
    expect(`${ran.stdout}${ran.stderr}`).toContain(`${usual} (5 orders paid; the last batch begun on `);
  }
  const told = await there('run', 'more.csv', '--yes');
  expect(`${told.stdout}${told.stderr}`).toMatch(/Next: .*--new-address/);
  expect(await world.applied()).toEqual(paid);

  const moved = await there('run', 'more.csv', '--yes', '--new-address');
  expect(moved.status, moved.stderr).toBe(0);
  expect(await world.applied()).toHaveLength(6);
  const plan = await there('plan', 'more.csv', '--json');
  expect(JSON.parse(plan.stdout)).toMatchObject({ existing: true, faults: [], warnings: [] });
  await world.file('last.csv', 'member,tokens,reference\n3,5,d\n');
  expect((await there('run', 'last.csv', '--yes')).status).toBe(0);
  expect((await world.run('plan', 'last.csv')).status, 'the way back is asked for too').toBe(3);
});
