import { expect, test } from 'vitest';
import { openRule } from '../../src/operations/rules/files.js';
import { planRule } from '../../src/operations/rules/plan.js';
import { makeBatch } from '../../src/operations/rules/run.js';
import { listRuns } from '../../src/rules/run-store.js';
import type { App } from '../../src/runtime/app.js';
import { heldBefore } from '../support/ledger/held-script.js';
import { almoner } from '../support/program/almoner.js';
import { dailySchedule, ledgerOf, MONDAY } from '../support/program/daily-schedule.js';
import { REALM_ID } from '../support/program/program.js';

const daily = dailySchedule();

test('a paused run, a refused row of which was paid otherwise since, goes on with the rest', async () => {
  const command = (...args: string[]) => almoner(args, { env: daily.world().env, cwd: daily.world().folder });
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
  expect([again.status, again.stdout]).toEqual([4, expect.stringContaining(`Batch ${batch}`)]);
  const { admin } = daily.world().realm;
  expect([await admin.balance(REALM_ID, '101'), await admin.balance(REALM_ID, '102')]).toEqual([7, 5]);
}, 60_000);

test('a plan beside a run that is being read has a record of its own, and leaves the run its batch', async () => {
  const [running, planning] = [await daily.app(), await daily.app()];
  const rule = await openRule(running.config, daily.world().folder, 'daily');
  const request = { at: MONDAY, scheduled: false, stop: new AbortController().signal, onProgress: () => {} };
  const plan = async (app: App) => {
    const [profile] = app.config.profiles;
    if (profile === undefined) throw new Error('no profile');
    const realm = await app.realm(profile);
    return { realm, meta: (await planRule(app, realm, rule, request)).meta };
  };
  const [run, beside] = [heldBefore(running, 'find-spent'), heldBefore(planning, 'find-spent')];
  const ran = plan(running);
  await run.held;
  const planned = plan(planning);
  await beside.held;
  run.goOn();
  const { realm, meta } = await ran;
  const made = await makeBatch(running, realm, meta, { now: Date.now() });
  beside.goOn();
  expect((await planned).meta).toMatchObject({ awards: 0, batch: null });
  const records = await listRuns(ledgerOf(running));
  expect(records).toHaveLength(2);
  expect(records.find(({ id }) => id === meta.id)).toMatchObject({
    state: 'run',
    batch: made?.ref.id,
    awards: 2,
  });
  const explained = await almoner(['rules', 'explain', made?.ref.id ?? '', '101', '--json'], {
    env: daily.world().env,
    cwd: daily.world().folder,
  });
  expect(JSON.parse(explained.stdout)).toMatchObject({ batch: made?.ref.id });
}, 60_000);
