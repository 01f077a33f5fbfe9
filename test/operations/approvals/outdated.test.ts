import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '../../../src/core/people.js';
import { readBatch, registerRealm } from '../../../src/ledger/index.js';
import { approve, previewApproval, refuse } from '../../../src/operations/approvals/approvals.js';
import { discardDead, retryDead } from '../../../src/operations/dead/retry-discard.js';
import { addToken } from '../../../src/operations/people/manage-tokens.js';
import { App } from '../../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/logger.js';
import { feed } from '../../support/ledger/feed-one.js';
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

test('a batch that waits for the approval of its rest can be approved or refused beside an outdated request for a retry', async () => {
  const ledger = app.ledger(pickProfile(app.config, 'town'));
  await registerRealm(ledger);
  const lax = {
    ...ledger,
    asked: { ...ledger.asked, requirement: { overTokens: null, overRows: null } },
    batchers: new Map(),
  };
  const batch = await sealed(lax, [{ tokens: 500 }, { tokens: 70 }, { tokens: 20 }], {
    prepared: { who: 'cleo' },
  });
  await feed(lax, batch.no, 2, '');
  for (const index of [1, 2]) await sendAs(batch, index, 'R');
  const places = [1, 2].map((index) => ({ ref: batch.ref, index }));
  await retryDead(as('cleo'), places, { who: 'cleo', why: null, newAddress: false }, () => {}).catch(
    (e) => e,
  );
  await discardDead(as('cleo'), places.slice(0, 1), { who: 'cleo', why: 'x' }, () => {});
  expect(await feedAll({ ...batch, ledger })).toEqual([]);
  const view = await readBatch(batch.ref);
  expect(view?.gate).toMatchObject({ closed: 'approval', preparer: 'cleo' });
  // Of what an approval would be for, no face names the other.
  expect(view?.retry).toBeNull();
  const shown = await previewApproval(app, batch.ref);
  const tries: string[] = [];
  for (const hash of [shown.hash, view?.confirmed ?? ''])
    for (const act of [
      () => approve(as('ben'), batch.ref, hash),
      () => refuse(as('ben'), batch.ref, hash, 'no'),
    ])
      tries.push(
        await act().then(
          () => 'done',
          (error: { code: string }) => error.code,
        ),
      );
  expect(tries).toContain('done');
});
