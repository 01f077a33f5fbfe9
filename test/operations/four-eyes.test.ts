import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Role } from '../../src/core/people.js';
import { readBatch } from '../../src/ledger/index.js';
import { planToPay } from '../../src/operations/pay/plan-file.js';
import { importBatch } from '../../src/operations/pay/store-batch.js';
import { approve, changeRequired } from '../../src/operations/people/approve.js';
import { addToken, revokeToken } from '../../src/operations/people/manage-tokens.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { scheduledRules } from '../../src/rules/approvals.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** One realm under two spellings of its address, which have books of their own, and three people. */
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
    other: { ...realm, baseUrl: 'http://localhost:9', keyEnv: 'K2' },
  };
  await writeFile(join(folder, 'almoner.config.yaml'), JSON.stringify({ realms }));
  const env = {
    REDIS_URL: redis.url,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_JOBS: folder,
    K: 'k',
    K2: 'q',
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

async function prepare(who: string, realmName: string, amount: number, rows = 1) {
  const file = join(folder, `${++members}.csv`);
  const lines = Array.from({ length: rows }, () => `${++members},${amount}`);
  await writeFile(file, ['member,tokens', ...lines, ''].join('\n'));
  const profile = pickProfile(app.config, realmName);
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
  return { ref, seal: view?.sealHash ?? '', waits: view?.gate?.closed ?? null };
}

describe('books of the same realm id', () => {
  test('count together what one person prepares, also at the same moment', async () => {
    expect((await prepare('ada', 'town', 1)).waits).toBeNull();
    // The other profile requires nothing; the realm does.
    expect((await prepare('ada', 'other', 1)).waits).toBeNull();
    const both = await Promise.all([prepare('ada', 'town', 90), prepare('ada', 'other', 90)]);
    expect(both.filter(({ waits }) => waits === 'approval').length).toBeGreaterThanOrEqual(1);
    expect((await prepare('ada', 'other', 90)).waits).toBe('approval');
    expect((await prepare('cleo', 'other', 90)).waits).toBeNull();
  });

  test('require less together, once two people want it', async () => {
    await prepare('ada', 'town', 1);
    await prepare('ada', 'other', 1);
    const less = app.books(pickProfile(app.config, 'other'));
    expect((await changeRequired(as('cleo'), less)).changed).toBe(false);
    expect((await changeRequired(as('ben'), less)).changed).toBe(true);
    expect((await prepare('cleo', 'other', 900)).waits).toBeNull();
  });
});

describe('a token that is revoked', () => {
  test('takes its go with it, also one that is given in that moment', async () => {
    const { ref, seal } = await prepare('ada', 'town', 500);
    const given = approve(as('ben'), ref, seal).catch(() => null);
    await revokeToken(app, 'ben');
    await given;
    expect((await readBatch(ref))?.gate).toMatchObject({ closed: 'approval', go: null });
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
