import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '../../../src/core/people.js';
import { revokeToken } from '../../../src/operations/approvals/revoke-token.js';
import { addToken } from '../../../src/operations/people/manage-tokens.js';
import { syncRules } from '../../../src/operations/rules/sync.js';
import { scheduledRules } from '../../../src/rules/approvals.js';
import { App } from '../../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/logger.js';
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

test('a token that is revoked while its owner approves a rule leaves no approval', async () => {
  const rule = `name: daily\nrealm: town\nschedule: { cron: "0 9 * * *", missed: once }\nperiod: day\naudience: { members: ["5"] }\naward: { tokens: 5 }\nlimits: { perRun: 1000 }\nreason: x\n`;
  await writeFile(join(folder, 'daily.yaml'), rule);
  try {
    const say = (name: string) => syncRules(as(name), { cwd: folder, approve: ['daily'], prune: false });
    await say('cleo');
    const ledger = app.ledger(pickProfile(app.config, 'town'));
    // The desk has let Ben's request in; his token goes while the files are read.
    const given = say('ben').catch(() => null);
    await revokeToken(app, 'ben');
    await given;
    expect((await scheduledRules(ledger))[0]?.approved).toBeNull();
  } finally {
    await rm(join(folder, 'daily.yaml'));
  }
});
