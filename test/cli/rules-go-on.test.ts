import { expect, test } from 'vitest';
import { dailySchedule } from '../support/daily-schedule.js';
import { rulesCommand } from '../support/rules-commands.js';
import { REALM_ID } from '../support/rules-world.js';

const daily = dailySchedule();

test('a paused run, a refused row of which was paid otherwise since, names the command that goes on with it', async () => {
  const command = (...args: string[]) => rulesCommand(args, daily.world().env, daily.world().folder);
  const member = (id: string) => daily.world().realm.admin.putMembers(REALM_ID, [{ member: id, tokens: 0 }]);
  await member('102');
  const run = ['rules', 'run', 'daily', '--at', '2020-11-15', '--yes'];
  const first = await command(...run, '--first', '1', '--json');
  const { batch, counts } = JSON.parse(first.stdout);
  expect(counts).toEqual({ planned: 1, refused: 1 });
  await member('101');
  const file = 'member,tokens,reference\n101,7,rule:daily:2020-11:101\n';
  const paid = await command('run', await daily.world().file('hand.csv', file), '--yes');
  expect(paid.status, paid.stderr).toBe(0);
  const again = await command(...run);
  expect(again.stdout).toMatch(`ALM_ROW_REFERENCE_SPENT`);
  expect(again.stdout).toMatch(`Next: almoner resume ${batch}`);
}, 60_000);
