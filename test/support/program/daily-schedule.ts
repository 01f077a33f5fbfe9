import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { listBatches, readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { type ScheduledRun, startSchedules } from '../../../src/operations/rules/schedules.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import type { MemberSeed } from '../../../src/realm/server/members.js';
import type { App } from '../../../src/runtime/app.js';
import { until } from '../until.js';
import { Program, REALM_ID } from './program.js';

/** A Sunday long ago: the store records only times that it has reached. */
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

/** Resets store, realm and folders to the start of the world for the next test. No process may be running. */
export async function emptyProgram(world: Program, members: readonly MemberSeed[] = []): Promise<void> {
  const { admin, key } = world.realm;
  await world.store.client().flushall();
  await admin.dropRealm(REALM_ID);
  await admin.adoptKey(REALM_ID, key);
  await admin.putMembers(REALM_ID, members);
  for (const name of ['data', 'state', 'drafts', 'jobs', 'reports'])
    await rm(join(world.folder, name), { recursive: true, force: true });
  world.requests.length = 0;
}

/**
 * An approved rule that pays each member once a month and looks for new members every day. Its audience is 101 and 102.
 * All tests of a file share one world, which is reset before each test.
 */
export function dailySchedule() {
  let world: Program | undefined;
  let looks = 0;
  const running: { stop(): Promise<void> }[] = [];
  const here = (): Program => {
    if (world === undefined) throw new Error('the world is not started');
    return world;
  };
  const daily = {
    /** The time that the schedulers of a test see. */
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
    /** Expires the claim of a process that died or was frozen. */
    async endClaims(): Promise<void> {
      const store = here().store.client();
      for (const key of await store.keys('*:rules:claim:*')) await store.del(key);
    },
  };
  beforeAll(async () => {
    world = await Program.start({ store: 'own' });
  });
  beforeEach(async () => {
    daily.clock = SUNDAY;
    await emptyProgram(here());
    await here().file('jobs/daily.yaml', RULE);
    await daily.audience('101', '102');
    const request = { cwd: here().folder, approve: ['daily'], prune: false, now: daily.clock };
    await syncRules(await here().app(), request);
  });
  afterEach(async () => {
    for (const one of running.splice(0)) await one.stop();
  });
  afterAll(async () => {
    await world?.end();
  });
  return daily;
}

export function ledgerOf(app: App): RealmLedger {
  const [profile] = app.config.profiles;
  if (profile === undefined) throw new Error('no profile');
  return app.ledger(profile);
}

/** The number of rows of each batch, oldest first. */
export async function batchRows(app: App): Promise<(number | undefined)[]> {
  const views = await Promise.all((await listBatches(ledgerOf(app))).map((ref) => readBatch(ref)));
  return views.map((view) => view?.manifest.rows);
}
