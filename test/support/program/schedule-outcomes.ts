import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { z } from 'zod';
import type { ScheduleOutcome } from '../../../src/core/schedule-outcomes.js';
import { listBatches, readBatch } from '../../../src/ledger/read/batches.js';
import { startSchedules } from '../../../src/operations/rules/schedules.js';
import { scheduleStandings } from '../../../src/operations/rules/standings.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import type { App } from '../../../src/runtime/app.js';
import { pickProfile } from '../../../src/runtime/config/config.js';
import { until } from '../until.js';
import { openDesk, type TestDesk } from './desk.js';
import { Program, REALM_ID } from './program.js';

/**
 * A store, a realm, a desk and schedulers for tests of what happens at a scheduled time. Each test has its own rule and
 * checks the reported outcome of its schedule.
 */

const MEMBERS = Array.from({ length: 12 }, (_, at) => ({
  member: String(101 + at),
  tokens: 0,
  web3: { held: 2 },
}));
const MINUTE_MS = 60_000;
/** A second realm; no process listens on its address. */
export const AWAY = 'away';
const AWAY_REALM = {
  baseUrl: 'http://127.0.0.1:9',
  realmId: AWAY,
  keyEnv: 'AWAY_KEY',
  certainty: 'idempotent',
  attempts: { max: 1 },
};

const standing = z.object({
  rule: z.string(),
  outcome: z.string(),
  isGood: z.boolean(),
  message: z.string(),
});
const listed = z.object({
  rules: z.array(z.object({ rule: z.string(), standing: standing.nullable() })),
});
const overview = z.object({ schedules: z.array(standing) });

export function scheduleOutcomes() {
  let world: Program;
  let desk: TestDesk;
  let rules = 0;
  let name = '';
  const running: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    world = await Program.start({ store: 'own', members: MEMBERS });
    world.env.AWAY_KEY = 'key-of-the-realm-that-is-away';
    const config = JSON.stringify({ realms: { [AWAY]: AWAY_REALM } });
    await world.file('almoner.config.yaml', config);
    desk = await openDesk(world);
  });
  afterAll(async () => {
    await desk.close();
    await world.end();
  });
  beforeEach(async () => {
    name = `daily-${++rules}`;
    await world.file(`jobs/${name}.csv`, `member\n${MEMBERS.map(({ member }) => member).join('\n')}\n`);
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop();
    await rm(join(world.folder, 'jobs'), { recursive: true });
    await syncRules(desk.app, { cwd: world.folder, approve: [], prune: true });
    // No process has served the schedules of the next test's realm yet.
    await desk.app.scripts.redis.del(`${ledger().keyPrefix}:rules:rounds`);
  });

  const ledger = () => desk.app.ledger(pickProfile(desk.app.config, REALM_ID));

  /** A daily rule that was due `minutesAgo` minutes ago and was approved just before that. */
  async function due(minutesAgo = 0, { missed = 'once', ...changes }: Record<string, string> = {}) {
    const now = Number((await desk.app.scripts.redis.time())[0]) * 1000;
    const at = Math.floor(now / MINUTE_MS) * MINUTE_MS - minutesAgo * MINUTE_MS;
    const [hour, minute] = [new Date(at).getUTCHours(), new Date(at).getUTCMinutes()];
    const rule = Object.values({
      name: `name: ${name}`,
      realm: `realm: ${REALM_ID}`,
      schedule: `schedule: { cron: "${minute} ${hour} * * *", timezone: UTC, missed: ${missed} }`,
      period: 'period: day',
      audience: `audience: { file: ${name}.csv }`,
      award: 'award: { tokens: 5 }',
      limits: 'limits: { perRun: 1000 }',
      reason: 'reason: Daily',
      ...changes,
    }).join('\n');
    await world.file(`jobs/${name}.yaml`, rule);
    await approve(at - 1);
    return { at, rule, cron: `${minute} ${hour} * * *` };
  }

  const approve = (now?: number) =>
    syncRules(desk.app, {
      cwd: world.folder,
      approve: [name],
      prune: false,
      ...(now === undefined ? {} : { now }),
    });

  async function serve(app?: App): Promise<void> {
    const { signal: stop } = new AbortController();
    running.push(await startSchedules(app ?? (await world.app()), { stop, lookEveryMs: 50 }));
  }

  const ofRule = <T extends { readonly rule: string }>(all: readonly T[]) =>
    all.find(({ rule }) => rule === name);
  const onTheDesk = async () => ofRule(overview.parse((await desk.call('/api/overview')).json()).schedules);

  /** Waits until the schedule reports the outcome. */
  async function untilOutcome(outcome: ScheduleOutcome, isGood: boolean, message: RegExp) {
    return until(`the outcome ${outcome}, ${message}`, async () => {
      const one = ofRule(await scheduleStandings(desk.app));
      return one?.outcome === outcome && one.isGood === isGood && message.test(one.message) && one;
    });
  }

  /** Expects the same outcome in the list, on the desk, in the source of alerts, and in the Prometheus metrics. */
  async function untilOutcomeEverywhere(
    outcome: ScheduleOutcome,
    isGood: boolean,
    message: RegExp,
  ): Promise<void> {
    await untilOutcome(outcome, isGood, message);
    const expected = { rule: name, outcome, isGood, message: expect.stringMatching(message) };
    const list = await world.run('rules', 'list', '--json');
    expect(ofRule(listed.parse(JSON.parse(list.stdout)).rules)?.standing).toMatchObject(expected);
    expect((await world.run('rules', 'list')).stdout).toMatch(new RegExp(`last .*${outcome}: `));
    const onPage = listed.parse((await desk.call('/api/rules')).json()).rules;
    expect(ofRule(onPage)?.standing).toMatchObject(expected);
    await until('the overview', async () => message.test((await onTheDesk())?.message ?? ''));
    expect(await onTheDesk()).toMatchObject(expected);
    // test/desk/notices.test.ts checks that alerts are sent for these.
    const { standings } = await desk.server.desk.board.look();
    const event =
      outcome === 'waits-for-go' ? 'schedule.waits' : isGood ? 'schedule.done' : 'schedule.failed';
    expect(standings.filter(({ rule }) => rule === name)).toMatchObject([
      { event, message: expect.stringContaining(`Schedule of rule ${name}: `) },
    ]);
    expect((await desk.call('/metrics')).text).toContain(
      `almoner_schedule_outcome{realm="${REALM_ID}",rule="${name}",outcome="${outcome}"} ${isGood ? 1 : 0}\n`,
    );
  }

  const command = async (...args: string[]) => {
    const ran = await world.run('rules', ...args);
    expect(ran.status, ran.stderr).toBe(0);
    return ran.stdout;
  };

  /** The batches of this test's rule. */
  async function batches() {
    const views = await Promise.all((await listBatches(ledger())).map((ref) => readBatch(ref)));
    return views.filter((view) => view?.manifest.source?.startsWith(`rule ${name} `));
  }

  /** An app whose schedules run `act` before their first seal. */
  async function appThatSealsAfter(act: () => Promise<unknown>) {
    const app = await world.app();
    const script = app.scripts.script.bind(app.scripts);
    let seals = 0;
    app.scripts.script = async (...call) => {
      if (call[0] === 'seal-batch' && seals++ === 0) await act();
      return script(...call);
    };
    return { app, seals: () => seals };
  }

  return {
    /** The name of the current test's rule. */
    get rule() {
      return name;
    },
    get world() {
      return world;
    },
    get desk() {
      return desk;
    },
    /** Processes that are stopped at the end of the test. */
    running,
    ...{
      ledger,
      due,
      approve,
      serve,
      ofRule,
      untilOutcome,
      untilOutcomeEverywhere,
      command,
      batches,
      appThatSealsAfter,
    },
  };
}
