import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readRequirement } from '../../src/ledger/index.js';
import { changeRequired } from '../../src/operations/people/approve.js';
import { keepingRequired } from '../../src/operations/people/keep-required.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig, pickProfile } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { startRedis } from '../support/redis-server.js';

/** A process that lives keeps what its profiles require in every store that it finds, and leaves alone what two people made weaker. */
test('kept again in a store that has forgotten it, and only there', async () => {
  const redis = await startRedis();
  const folder = await mkdtemp(join(tmpdir(), 'almoner-kept-'));
  const realm = { realmId: 'town', certainty: 'idempotent' };
  const realms = {
    town: { ...realm, baseUrl: 'http://127.0.0.1:9', keyEnv: 'K', approval: { overTokens: 100 } },
    other: { ...realm, baseUrl: 'http://localhost:9', keyEnv: 'K2', approval: { overTokens: 300 } },
  };
  await writeFile(join(folder, 'almoner.config.yaml'), JSON.stringify({ realms }));
  const env = { REDIS_URL: redis.url, ALMONER_DATA: join(folder, 'data'), K: 'k', K2: 'q' };
  const config = await loadConfig({ env, cwd: folder, flags: {} });
  const logger = createLogger({ level: 'silent' });
  const app = await App.open({ config, logger, env, clientName: 'kept', patienceMs: 10_000 });
  const required = () =>
    Promise.all(config.profiles.map(async (one) => (await readRequirement(app.ledger(one))).overTokens));
  const keep = keepingRequired(app);
  await keep();
  expect(await required()).toEqual([100, 100]);
  const weaker = app.books(pickProfile(config, 'other'));
  for (const name of ['ada', 'ben']) await changeRequired(app.as({ name, roles: ['approver'] }), weaker);
  await keep();
  expect(await required()).toEqual([300, 300]);
  await redis.client().flushall();
  await redis.kill();
  await redis.restart();
  expect(await required()).toEqual([null, null]);
  await keep();
  expect(await required()).toEqual([100, 100]);
  await app.close();
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});
