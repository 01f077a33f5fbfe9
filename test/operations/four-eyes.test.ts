import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../src/core/people.js';
import { readBatch } from '../../src/ledger/index.js';
import { approve } from '../../src/operations/approvals/approvals.js';
import { revokeToken } from '../../src/operations/approvals/revoke-token.js';
import { planToPay } from '../../src/operations/pay/plan-file.js';
import { importBatch } from '../../src/operations/pay/store-batch.js';
import { addToken } from '../../src/operations/people/manage-tokens.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { scheduledRules } from '../../src/rules/approvals.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** One realm, and three people. */
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
  folder = await mkdtemp(join(tmpdir(), 'almoner-eyes-'));
  const realm = { realmId: 'town', certainty: 'idempotent' };
  const realms = {
    town: { ...realm, baseUrl: 'http://127.0.0.1:9', keyEnv: 'K', approval: { overTokens: 100 } },
  };
  await writeFile(join(folder, 'almoner.config.yaml'), JSON.stringify({ realms }));
  const env = {
    REDIS_URL: redis.url,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_JOBS: folder,
    K: 'k',
  };
  const config = await loadConfig({ env, cwd: folder, flags: {} });
  const logger = createLogger({ level: 'silent' });
  app = await App.open({ config, logger, env, clientName: 'eyes', patienceMs: 10_000 });
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
let members = 0;

async function prepare(who: string, amount: number) {
  const file = join(folder, `${++members}.csv`);
  await writeFile(file, `member,tokens\n${++members},${amount}\n`);
  const profile = pickProfile(app.config, 'town');
  const choices = {
    again: null,
    currency: null,
    newLedger: false,
    newRowsOnly: false,
    skipInvalid: false,
    expectRows: null,
    expectTokens: null,
  };
  const { realm, planned } = await planToPay(as(who), profile, {
    file,
    map: [],
    newAddress: true,
    ...choices,
  });
  const { ref } = await importBatch(as(who), realm, planned, { batchId: null, inOrder: false });
  planned.plan.findings.close();
  const view = await readBatch(ref);
  return { ref, hash: view?.confirmed ?? '', waits: view?.gate?.closed ?? null };
}

describe('a token that is revoked', () => {
  test('takes its approval with it, also one that is given in that moment', async () => {
    const { ref, hash } = await prepare('ada', 500);
    const given = approve(as('ben'), ref, hash).catch(() => null);
    await revokeToken(app, 'ben');
    await given;
    expect((await readBatch(ref))?.gate).toMatchObject({ closed: 'approval' });
  });

  test('takes its word for a rule with it, asked or given', async () => {
    const rule = (tokens: number) =>
      `name: daily\nrealm: town\nschedule: { cron: "0 9 * * *", missed: once }\nperiod: day\naudience: { members: ["5"] }\naward: { tokens: ${tokens} }\nlimits: { perRun: 1000 }\nreason: x\n`;
    const ledger = app.ledger(pickProfile(app.config, 'town'));
    const say = (name: string) => syncRules(as(name), { cwd: folder, approve: ['daily'], prune: false });
    const entry = async () => (await scheduledRules(ledger))[0];
    await writeFile(join(folder, 'daily.yaml'), rule(5));
    await say('cleo');
    expect(await entry()).toMatchObject({ approved: null, asked: { who: 'cleo' } });
    await revokeToken(app, 'cleo');
    expect((await entry())?.asked).toBeNull();
    await say('ada');
    await say('ben');
    expect(await entry()).toMatchObject({ approved: { who: 'ben', asked: 'ada' }, asked: null });
    await revokeToken(app, 'ben');
    expect(await entry()).toMatchObject({
      approved: null,
      takenBack: { why: 'the token of ben was revoked' },
    });
    await rm(join(folder, 'daily.yaml'));
  });
});
