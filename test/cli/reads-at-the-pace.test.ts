import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { almoner } from '../support/program/almoner.js';
import { startRealm, type TestRealm } from '../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** Commands that read once and end share the realm's pace with everybody, and give back what they took. */

const ID = '1190000000000000001';
const RATE = { requests: 4, windowMs: 1_000 };
/** A slot that is not given back holds up the others until the time-out of its request, a minute. */
const HELD_UP_MS = 30_000;
let redis: TestRedis;
let realm: TestRealm;
let cwd: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  redis = await startRedis();
  cwd = await mkdtemp(join(tmpdir(), 'almoner-test-'));
  await writeFile(join(cwd, 'pay.csv'), `member,tokens\n${ID},5\n`);
  realm = await startRealm(redis, { realmId: 'club', rateLimit: RATE });
  await realm.admin.putMembers('club', [{ member: ID, tokens: 50, wallets: ['wa'] }]);
  env = {
    REDIS_URL: redis.url,
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: 'club',
    ALMONER_API_KEY: realm.key,
    ALMONER_RATE: `${RATE.requests}/${RATE.windowMs / 1000}s`,
    ALMONER_DATA: join(cwd, 'data'),
  };
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
  await rm(cwd, { recursive: true, force: true });
});

test('one after the other they take as long as the pace asks for, and say nothing on stderr', async () => {
  const ran = async (args: readonly string[], changes: NodeJS.ProcessEnv = {}) => {
    const { status, stderr } = await almoner(args, { cwd, env: { ...env, ...changes } });
    expect([args, status, stderr]).toEqual([args, 0, '']);
  };
  // The realm counts this one and the pace does not: one of the others meets a 429 and waits instead of ending.
  await ran(['member', ID], { ALMONER_RATE: 'none' });
  const commands = [
    ['member', ID],
    ['wallets', 'wa'],
    ['member', ID, '--web3'],
    ['plan', 'pay.csv', '--check', '--json'],
    ['member', ID],
    ['wallets', 'wa'],
    ['member', ID, '--web3'],
  ];
  const startedAt = performance.now();
  for (const args of commands) await ran(args);
  const tookMs = performance.now() - startedAt;
  expect(tookMs).toBeGreaterThan(RATE.windowMs);
  expect(tookMs).toBeLessThan(HELD_UP_MS);
  const keys = await redis.client().keys('*:pace:*');
  expect([keys.some((key) => key.endsWith(':w')), keys.some((key) => key.endsWith(':o'))]).toEqual([
    true,
    false,
  ]);
});
