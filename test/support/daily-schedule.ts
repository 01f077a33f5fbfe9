import { afterEach, beforeEach } from 'vitest';
import { listBatches, readBatch } from '../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../src/ledger/realm-ledger.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { type ScheduledRun, startSchedules } from '../../src/operations/services/schedules.js';
import type { App } from '../../src/runtime/app.js';
import { REALM_ID, type RulesWorld, startRulesWorld } from './rules-world.js';
import { until } from './until.js';

/** Long past for the store, which notes no time that it has not reached. */
const SUNDAY = Date.parse('2020-11-15T12:00:00Z');
export const MONDAY = Date.parse('2020-11-16T09:00:00Z');
export const DAY_MS = 24 * 3_600_000;
const RULE = [
  'name: daily',
  `realm: ${REALM_ID}`,
  'schedule: { cron: "0 9 * * *", timezone: UTC, missed: once }',
  'period: month',
  'audience: { file: audience.csv }',
  'award: { tokens: 5 }',
  'limits: { perRun: 10000 }',
  'reason: Daily',
].join('\n');

/** An approved rule that pays each member once a month and looks for new ones every day; its audience is 101 and 102. */
export function dailySchedule() {
  let world: RulesWorld | undefined;
  let looks = 0;
  const running: { stop(): Promise<void> }[] = [];
  const here = (): RulesWorld => {
    if (world === undefined) throw new Error('the world is not started');
    return world;
  };
  const daily = {
    /** What the schedulers of a test take for the time. */
    clock: SUNDAY,
    world: here,
    app: () => here().app(),
    audience: (...members: string[]) => here().file('jobs/audience.csv', `member\n${members.join('\n')}\n`),
    async schedule(app: App, clock: 'handed in' | 'its own' = 'handed in'): Promise<ScheduledRun[]> {
      const runs: ScheduledRun[] = [];
      const now = () => {
        looks += 1;
        return daily.clock;
      };
      const { signal: stop } = new AbortController();
      const options = { stop, lookEveryMs: 20, onRun: (run: ScheduledRun) => void runs.push(run) };
      running.push(await startSchedules(app, clock === 'its own' ? options : { ...options, now }));
      return runs;
    },
    async looked(): Promise<void> {
      const before = looks;
      await until('it to be looked a few times', () => looks > before + 6);
    },
    /** The claim of a process that died, or was frozen, runs out. */
    async endClaims(): Promise<void> {
      const store = here().store.client();
      for (const key of await store.keys('*:rules:claim:*')) await store.del(key);
    },
  };
  beforeEach(async () => {
    daily.clock = SUNDAY;
    world = await startRulesWorld();
    await here().file('jobs/daily.yaml', RULE);
    await daily.audience('101', '102');
    const request = { cwd: here().folder, approve: ['daily'], prune: false, now: daily.clock };
    await syncRules(await here().app(), request);
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop();
    await world?.end();
  });
  return daily;
}

export function booksOf(app: App): RealmLedger {
  const [profile] = app.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  return app.ledger(profile);
}

/** Rows of each batch, oldest first. */
export async function batchRows(app: App): Promise<(number | undefined)[]> {
  const views = await Promise.all((await listBatches(booksOf(app))).map((ref) => readBatch(ref)));
  return views.map((view) => view?.manifest.rows);
}
