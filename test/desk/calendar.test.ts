import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { REALM_ID } from '../support/program/program.js';
import { scheduleOutcomes } from '../support/program/schedule-outcomes.js';
import { until } from '../support/until.js';

/**
 * The calendar at the desk: missed times are counted, reported, made up for or dismissed, each with an entry in the
 * audit.
 */
const here = scheduleOutcomes();
const { due, serve, untilOutcome } = here;

const calendar = z.looseObject({
  missed: z.array(z.looseObject({ rule: z.string(), at: z.string(), held: z.string(), makeUp: z.string() })),
  past: z.array(z.looseObject({ at: z.string(), outcome: z.string(), batch: z.string().nullable() })),
  coming: z.array(z.looseObject({ rule: z.string(), state: z.string() })),
});
const ofRule = async (cursor = '') =>
  calendar.parse((await here.desk.call(`/api/calendar?rule=${here.rule}${cursor}`)).json());
const gauge = async () =>
  (await here.desk.call('/metrics')).text.match(
    new RegExp(`^almoner_schedule_missed\\{realm="${REALM_ID}"\\} (\\d+)$`, 'm'),
  )?.[1];
const task = z.looseObject({
  task: z.string(),
  state: z.string(),
  error: z.looseObject({ code: z.string() }).nullable(),
  result: z.looseObject({ plan: z.string().nullable(), batch: z.string().nullable() }),
});

async function settle(path: string, body: unknown) {
  const begun = task.parse((await here.desk.call(path, { method: 'POST', body })).json());
  return until(`the end of ${path}`, async () => {
    const now = task.parse((await here.desk.call(`/api/tasks/${begun.task}`)).json());
    return now.state !== 'running' && now;
  });
}

describe('a time that nobody served', () => {
  let at = '';
  beforeEach(async () => {
    const { at: time } = await due(20, { missed: 'skip' });
    await serve();
    await untilOutcome('missed', false, /Nobody was serving in time/);
    at = new Date(time).toISOString();
  });

  test('is on the list, in the metric, on the overview and in an alert until an operator dismisses it', async () => {
    expect(await ofRule()).toMatchObject({
      missed: [{ rule: here.rule, at, held: '0', makeUp: expect.stringContaining('--missed') }],
      past: [],
      coming: expect.arrayContaining([expect.objectContaining({ rule: here.rule, state: 'runs' })]),
    });
    await until('the metric', async () => (await gauge()) === '1');
    const { overview, standings } = await here.desk.server.desk.board.look();
    expect(overview.missed.filter(({ times }) => times > 0)).toMatchObject([
      { realm: REALM_ID, times: 1, since: at, rules: [{ rule: here.rule, times: 1 }] },
    ]);
    expect(standings.filter(({ event }) => event === 'schedule.missed')).toMatchObject([
      { next: 'almoner rules calendar', mark: 1, message: expect.stringContaining(`${here.rule} (1)`) },
    ]);

    const path = `/api/rules/${here.rule}/dismiss`;
    const body = { times: [at], reason: 'paid in cash' };
    const { viewer } = here.desk.tokens;
    expect((await here.desk.call(path, { method: 'POST', body, as: viewer })).status).toBe(403);
    const nameless = await here.desk.call(path, { method: 'POST', body: { times: [at] } });
    expect(nameless.status).toBe(400);
    const done = await here.desk.call(path, { method: 'POST', body });
    expect([done.status, done.json()]).toEqual([200, { dismissed: [at] }]);
    expect((await here.desk.call('/api/audit?limit=1')).json()).toMatchObject({
      entries: [
        { who: 'olga', what: expect.stringMatching(/^let 1 missed time of rule/), why: 'paid in cash' },
      ],
    });
    expect((await here.desk.call(path, { method: 'POST', body })).json()).toMatchObject({
      error: { code: 'ALM_RULE_NOT_MISSED' },
    });
    await until('the metric', async () => (await gauge()) === '0');
    expect(await ofRule()).toMatchObject({
      missed: [],
      past: [{ at, outcome: 'let go', dismissed: { who: 'olga', why: 'paid in cash' } }],
    });
    expect((await ofRule(`&cursor=${at}`)).past).toEqual([]);
  });

  test('is planned and run for its own time, which makes it up', async () => {
    const planned = await settle(`/api/rules/${here.rule}/plan`, { missed: at });
    expect(planned.error).toBeNull();
    const { plan } = planned.result;
    const shown = z
      .looseObject({ awarded: z.number(), tokens: z.string() })
      .parse((await here.desk.call(`/api/rule-plans/${plan}`)).json());
    const run = { plan, members: shown.awarded, tokens: shown.tokens };
    const made = await settle(`/api/rules/${here.rule}/run`, run);
    expect(made.error).toBeNull();
    expect(await ofRule()).toMatchObject({
      missed: [],
      past: [{ at, outcome: 'made up', batch: made.result.batch }],
    });
    expect((await here.desk.call('/api/audit?limit=2')).json()).toMatchObject({
      entries: [
        { what: expect.stringMatching(/^made up the missed time/), batch: made.result.batch },
        { what: expect.stringMatching(`, plan ${plan}: `), batch: made.result.batch },
      ],
    });
    const again = await settle(`/api/rules/${here.rule}/plan`, { missed: at });
    expect(again.error?.code).toBe('ALM_RULE_NOT_MISSED');
  });
});
