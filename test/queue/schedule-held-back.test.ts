import { describe, expect, test } from 'vitest';
import { scheduledRules } from '../../src/rules/approvals.js';
import { scheduleOutcomes } from '../support/program/schedule-outcomes.js';
import { until } from '../support/until.js';

/** Outcomes of scheduled times when a person paused, skipped or changed the rule, or withdrew its approval. */
const here = scheduleOutcomes();
const { ledger, due, approve, serve, ofRule, untilOutcome, command, batches, appThatSealsAfter } = here;

describe('a schedule that a person holds back', () => {
  test('paused: its times are reported as paused and are not made up for', async () => {
    await due();
    expect(await command('pause', here.rule, '--reason', 'audit of the list')).toContain(
      'paused by ada: audit of the list',
    );
    await serve();
    await untilOutcome('paused', true, /^Paused by ada: audit of the list$/);
    expect(await command('list')).toMatch(/PAUSED {4}since .* by ada: audit of the list/);
    expect((await here.desk.call('/api/audit')).text).toContain(`paused rule ${here.rule}`);
    await command('resume', here.rule);
    await untilOutcome('paused', true, /audit of the list/);
    expect(ofRule<{ rule: string }>(JSON.parse(await command('list', '--json')).rules)).toMatchObject({
      standing: { paused: null },
      next: expect.any(String),
    });
    expect(await batches()).toEqual([]);
  });

  test('paused and resumed while no process serves: a time in the pause is not made up for', async () => {
    await due();
    await command('pause', here.rule, '--reason', 'x');
    await command('resume', here.rule);
    await serve();
    await untilOutcome('paused', true, /Paused by ada: x/);
    expect(await batches()).toEqual([]);
  });

  test('paused while its run is being planned: the seal of the batch is refused', async () => {
    await due(0, { award: 'award: { tokens: web3.held, rounding: floor }' });
    const { app, seals } = await appThatSealsAfter(() =>
      command('pause', here.rule, '--reason', 'at the last moment'),
    );
    await serve(app);
    await untilOutcome('paused', true, /at the last moment/);
    expect(seals()).toBe(1);
    expect(await batches()).toEqual([]);
  });

  test('a text approved while an older run is being planned: the old run pays nothing', async () => {
    const { rule } = await due(0, { award: 'award: { tokens: web3.held, rounding: floor }' });
    const { app, seals } = await appThatSealsAfter(async () => {
      await here.world.file(`jobs/${here.rule}.yaml`, rule.replace('web3.held,', '1,'));
      await approve();
    });
    await serve(app);
    await untilOutcome('missed', false, /A go came later and counts for the times after it/);
    expect(seals()).toBe(1);
    expect(await batches()).toEqual([]);
  });

  test('a time that waits when a changed text is approved is reported as missed, whatever it waited for', async () => {
    const { rule } = await due();
    await here.world.file(`jobs/${here.rule}.yaml`, rule.replace('Daily', 'Every day'));
    await approve();
    await untilOutcome('missed', false, /Nobody had seen to it\. A go came later/);
  });

  test('“nothing” is not the outcome while the period’s own batch waits for a worker', async () => {
    const { at } = await due();
    await serve();
    await untilOutcome('no-worker', false, /no worker is running/);
    const key = `${ledger().keyPrefix}:rules:last`;
    const { redis } = here.desk.app.scripts;
    const noted = JSON.parse((await redis.hget(key, here.rule)) ?? '{}');
    // Turns it into an earlier time, and the next one has come.
    await redis.hset(key, here.rule, JSON.stringify({ ...noted, at: at - 1_000 }));
    await until('the time to be dealt with again', async () => {
      const now = JSON.parse((await redis.hget(key, here.rule)) ?? '{}');
      return now.at === at && now;
    });
    await untilOutcome('no-worker', false, /no worker is running.*Nobody is missing but whom it pays/);
    expect(await batches()).toHaveLength(1);
  });

  test('skipped: one time passes, and the next one runs', async () => {
    const { at } = await due();
    const entry = ofRule(await scheduledRules(ledger()));
    const skipped = await command('skip', here.rule, '--reason', 'holiday');
    expect(skipped).toContain(new Date(at + 24 * 3_600_000).toISOString().slice(0, 10));
    const held = ofRule(await scheduledRules(ledger()));
    expect(held?.skip).toMatchObject({ who: 'ada', why: 'holiday', time: at + 24 * 3_600_000 });
    const list = JSON.parse(await command('list', '--json'));
    expect(ofRule<{ rule: string }>(list.rules)).toMatchObject({
      next: new Date(at + 2 * 24 * 3_600_000).toISOString(),
    });
    // As if it had been skipped before the time that has come.
    await here.desk.app.scripts.redis.hset(
      `${ledger().keyPrefix}:rules:schedules`,
      here.rule,
      JSON.stringify({ ...entry, skip: { ...held?.skip, time: at } }),
    );
    await serve();
    await untilOutcome('skipped', true, /^Skipped by ada: holiday$/);
    expect(await batches()).toEqual([]);
  });

  test('its approval is withdrawn on the desk: nothing runs', async () => {
    await due();
    const reply = await here.desk.call(`/api/rules/${here.rule}/revoke`, {
      method: 'POST',
      body: { reason: 'wrong award' },
    });
    expect(reply.status).toBe(200);
    await serve();
    await untilOutcome('waits-for-go', false, /^The approval was withdrawn by olga: wrong award$/);
    expect((await here.desk.call('/api/audit')).text).toContain(
      `took back the approval of rule ${here.rule}`,
    );
    expect(await batches()).toEqual([]);
  });
});
