import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { metricsText } from '../../src/desk/live/metrics.js';
import { REALM_ID } from '../support/program/program.js';
import { AWAY, scheduleOutcomes } from '../support/program/schedule-outcomes.js';
import { startWorkerBeside } from '../support/program/worker-beside.js';
import { until } from '../support/until.js';

/**
 * A scheduled time that has come has an outcome. Three outcomes (a good one, a bad one, one that waits) are checked
 * everywhere: the list, the desk, the alerts, Prometheus.
 */
const here = scheduleOutcomes();
const { due, serve, ofRule, untilOutcome, untilOutcomeEverywhere, command, batches, running } = here;

describe('a time that has come', () => {
  test('waits for a worker, and is paid once there is one', async () => {
    await due();
    await serve();
    await untilOutcome('no-worker', false, /enqueued, but no worker is running/);
    running.push(await startWorkerBeside({ env: here.world.env, cwd: here.world.folder }));
    await untilOutcomeEverywhere('paid', true, /is done: 12 orders paid\./);
    expect((await here.desk.call('/metrics')).text).toMatch(
      new RegExp(`almoner_schedule_good_round_timestamp_seconds{realm="${REALM_ID}"} 1\\d+`),
    );
  });

  test('has nothing to pay', async () => {
    await due(0, { condition: 'condition: run.year < 2000' });
    await serve();
    await untilOutcome('nothing', true, /^No member was due an award\.$/);
  });

  test('is stopped by a limit; a manual run makes up for it', async () => {
    const { rule } = await due(0, { limits: 'limits: { perRun: 10 }' });
    await serve();
    await untilOutcome('stopped', false, /limits\.perRun 10/);
    await here.world.file(`jobs/${here.rule}.yaml`, rule.replace('perRun: 10 ', 'perRun: 100 '));
    await command('run', here.rule, '--yes');
    await untilOutcome('paid', true, /is done: 12 orders paid/);
  });

  test.each([
    ['a rule file that is gone', 'yaml', null, /is gone/],
    ['a faulty rule', 'yaml', 'name: daily\naward: {', /has faults/],
    ['an audience that is gone', 'csv', null, /has faults/],
    ['a faulty audience', 'csv', 'who\n1\n', /has faults/],
  ])('fails for %s', async (_, kind, text, message) => {
    await due();
    if (text === null) await rm(join(here.world.folder, 'jobs', `${here.rule}.${kind}`));
    else await here.world.file(`jobs/${here.rule}.${kind}`, text);
    await serve();
    await untilOutcome('fault', false, message);
    expect(await batches()).toEqual([]);
  });

  test('waits for the approval of a changed file, which applies to later times', async () => {
    const { rule } = await due();
    await here.world.file(`jobs/${here.rule}.yaml`, `${rule}\n# more\n`);
    await serve();
    await untilOutcome('waits-for-go', false, /not the text that has the go/);
    await command('sync');
    await untilOutcomeEverywhere('waits-for-go', false, /waits for an approval/);
    await command('sync', '--approve', here.rule);
    await untilOutcome('missed', false, /It waited: .* A go came later/);
    expect(await batches()).toEqual([]);
  });

  test('waits for a realm that does not answer', async () => {
    await due(0, { realm: `realm: ${AWAY}`, award: 'award: { tokens: web3.held, rounding: floor }' });
    await serve();
    await untilOutcome('realm-away', false, /realm/i);
  });

  test('has no known outcome while the store does not answer', async () => {
    await due();
    await serve();
    await untilOutcome('no-worker', false, /no worker/);
    // Without the store the desk admits no new sign-in; an open page and Prometheus show this.
    const { server } = here.desk;
    const shown = async () => ofRule((await server.desk.board.look()).overview.schedules);
    await until('the overview to know the outcome', async () => (await shown())?.outcome === 'no-worker');
    await here.world.store.kill();
    try {
      await until('the overview', async () => (await shown())?.outcome === 'store-away', 30_000);
      expect(await metricsText(server.desk)).toContain(`rule="${here.rule}",outcome="store-away"} 0\n`);
    } finally {
      await here.world.store.restart();
    }
  });

  test('is reported as unserved while no process serves; the next serving process makes up for it', async () => {
    await due(3);
    const { key } = await untilOutcome(
      'unserved',
      false,
      /^No `almoner serve` was running at .*, and none is running now/,
    );
    expect(key).toMatch(new RegExp(`^${REALM_ID}/${here.rule}/\\d+/unserved$`));
    expect((await untilOutcome('unserved', false, /./)).key, 'the key stays').toBe(key);
    await serve();
    await untilOutcomeEverywhere('no-worker', false, /no worker/);
  });

  test('is reported as missed if the rule does not make up for it', async () => {
    await due(20, { missed: 'skip' });
    await serve();
    await untilOutcome('missed', false, /Nobody was serving in time/);
  });
});
