import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '../../../src/core/people.js';
import { readBatch, registerRealm } from '../../../src/ledger/index.js';
import {
  approve,
  previewApproval,
  refuse,
  waitingForApproval,
} from '../../../src/operations/approvals/approvals.js';
import { discardDead, retryDead } from '../../../src/operations/dead/retry-discard.js';
import { AuditTrail } from '../../../src/operations/people/audit.js';
import { addToken } from '../../../src/operations/people/manage-tokens.js';
import { steerRule } from '../../../src/operations/rules/steer-rule.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import { scheduledRules } from '../../../src/rules/approvals.js';
import { App } from '../../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/logger.js';
import { sealed } from '../../support/ledger/ledgers-on-redis.js';
import { feedAll, sendAs } from '../../support/ledger/order-moves.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

const ROLES: Readonly<Record<string, readonly Role[]>> = {
  ada: ['operator', 'approver'],
  ben: ['approver'],
  cleo: ['operator'],
};
let redis: TestRedis;
let folder: string;
let app: App;
beforeAll(async () => {
  redis = await startRedis();
  folder = await mkdtemp(join(tmpdir(), 'almoner-zz-'));
  const realms = {
    town: {
      realmId: 'town',
      certainty: 'idempotent',
      baseUrl: 'http://127.0.0.1:9',
      keyEnv: 'K',
      approval: { overTokens: 10 },
    },
  };
  await writeFile(join(folder, 'almoner.config.yaml'), JSON.stringify({ realms }));
  const env = { REDIS_URL: redis.url, ALMONER_DATA: join(folder, 'data'), ALMONER_JOBS: folder, K: 'k' };
  const config = await loadConfig({ env, cwd: folder, flags: {} });
  app = await App.open({
    config,
    logger: createLogger({ level: 'silent' }),
    env,
    clientName: 'zz',
    patienceMs: 10_000,
  });
});
afterAll(async () => {
  await app.close();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await redis.client().flushall();
  for (const [name, roles] of Object.entries(ROLES)) await addToken(app, name, roles);
});
const as = (name: string) => app.as({ name, roles: ROLES[name] ?? [] });
const lines = async () =>
  (await new AuditTrail(app.scripts).page(undefined, 50, {})).entries.map(
    ({ who, what }) => `${who}: ${what}`,
  );

test('taking back what was asked for a rule leaves a line, and does not say that it has its go', async () => {
  const rule = `name: daily\nrealm: town\nschedule: { cron: "0 9 * * *", missed: once }\nperiod: day\naudience: { members: ["5"] }\naward: { tokens: 5 }\nlimits: { perRun: 1000 }\nreason: x\n`;
  await writeFile(join(folder, 'daily.yaml'), rule);
  try {
    await syncRules(as('cleo'), { cwd: folder, approve: ['daily'], prune: false });
    const ledger = app.ledger(pickProfile(app.config, 'town'));
    expect((await scheduledRules(ledger))[0]).toMatchObject({ approved: null, asked: { who: 'cleo' } });
    const before = await lines();
    const words = await steerRule(as('ben'), 'daily', 'revoke', 'no');
    expect((await scheduledRules(ledger))[0]).toMatchObject({ approved: null, asked: null });
    const after = await lines();
    expect.soft(words).not.toContain('has its go');
    expect.soft(after.length - before.length).toBe(1);
  } finally {
    await rm(join(folder, 'daily.yaml'));
  }
});

test('a request for dead letters of which one was discarded since can be refused', async () => {
  const ledger = app.ledger(pickProfile(app.config, 'town'));
  await registerRealm(ledger);
  const batch = await sealed(ledger, [{ tokens: 500 }, { tokens: 70 }, { tokens: 9 }]);
  await redis.client().hset(`${ledger.keyPrefix}:b:${batch.no}`, 'begun', '1', 'cleared', 'rest');
  await feedAll(batch);
  for (const index of [1, 2, 3]) await sendAs(batch, index, 'R');
  const places = [1, 2].map((index) => ({ ref: batch.ref, index }));
  await retryDead(as('cleo'), places, { who: 'cleo', why: null, newAddress: false }, () => {}).catch(
    (e) => e,
  );
  expect((await readBatch(batch.ref))?.retry).toMatchObject({ who: 'cleo', orders: 2 });
  await discardDead(as('cleo'), places.slice(0, 1), { who: 'cleo', why: 'x' }, () => {});
  const shown = await previewApproval(app, batch.ref);
  expect(shown.isOutdated).toBe(true);
  expect((await waitingForApproval(app)).length).toBe(1);
  await expect(approve(as('ben'), batch.ref, shown.hash)).rejects.toThrow();
  await expect(refuse(as('ben'), batch.ref, shown.hash, 'no')).resolves.toBeUndefined();
  expect((await waitingForApproval(app)).length).toBe(0);
});
