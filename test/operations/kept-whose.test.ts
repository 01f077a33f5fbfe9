import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '../../src/core/people.js';
import { planToPay } from '../../src/operations/pay/plan-file.js';
import { importBatch } from '../../src/operations/pay/store-batch.js';
import { AuditTrail } from '../../src/operations/people/audit.js';
import { addToken } from '../../src/operations/people/manage-tokens.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

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
      approval: { overTokens: 1000 },
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

const CHOICES = {
  again: null,
  currency: null,
  newAddress: true,
  newLedger: true,
  newRowsOnly: false,
  skipInvalid: false,
  expectRows: null,
  expectTokens: null,
};
test('who said what of a header is not told of somebody who did not', async () => {
  const profile = pickProfile(app.config, 'town');
  const plan = async (who: string, row: string, map: readonly string[]) => {
    const file = join(folder, `${who}-${row}.csv`);
    await writeFile(file, `member,tokens,ticket,why\n${row},3,t-${row},x\n`);
    return planToPay(as(who), profile, { file, map: [...map], ...CHOICES });
  };
  const pay = async (who: string, row: string, map: readonly string[]) => {
    const { realm, planned } = await plan(who, row, map);
    expect(planned.plan.findings.faults(3)).toEqual([]);
    await importBatch(as(who), realm, planned, { batchId: null, inOrder: false });
    planned.plan.findings.close();
  };
  await pay('cleo', '11', ['reference=ticket']);
  // Ada says nothing of the reference.
  await pay('ada', '12', ['reason=why']);
  const { planned } = await plan('ada', '13', []);
  const warnings = planned.plan.findings.warnings(9).map(({ message }) => message);
  planned.plan.findings.close();
  const trail = (await lines()).filter((line) => line.includes('kept the columns'));
  expect.soft(warnings.filter((one) => one.startsWith('ada said --map reference=ticket'))).toEqual([]);
  expect.soft(trail.filter((one) => one.startsWith('ada') && one.includes('reference=ticket'))).toEqual([]);
});
