import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { almoner, type RealmProcess, startRealmProcess } from '../support/almoner.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';

/** Commands that read once and end share the realm's pace with everybody, and give back what they took. */

const ID = '1190000000000000001';
const [REQUESTS, WINDOW_S] = [4, 6];
let redis: TestRedis;
let realm: RealmProcess;
let cwd: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  redis = await startRedis();
  cwd = await mkdtemp(join(tmpdir(), 'almoner-test-'));
  await writeFile(join(cwd, 'members.csv'), `member,tokens,wallets\n${ID},50,wa\n`);
  await writeFile(join(cwd, 'pay.csv'), `member,tokens\n${ID},5\n`);
  const rate = `${REQUESTS}/${WINDOW_S}s`;
  realm = await startRealmProcess(
    ['--port', '0', '--realm-id', 'club', '--members', 'members.csv', '--rate', rate],
    { REDIS_URL: redis.url },
    cwd,
  );
  env = {
    REDIS_URL: redis.url,
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: 'club',
    ALMONER_API_KEY: realm.key,
    ALMONER_RATE: rate,
    ALMONER_DATA: join(cwd, 'data'),
  };
});
afterAll(async () => {
  await realm.end('SIGTERM');
  await redis.stop();
  await rm(cwd, { recursive: true, force: true });
});

test('one after the other they take as long as the pace asks for, and say nothing on stderr', async () => {
  const ran = async (args: readonly string[], changes: NodeJS.ProcessEnv = {}) => {
    const startedAt = performance.now();
    const { status, stderr } = await almoner(args, { cwd, env: { ...env, ...changes } });
    expect([args, status, stderr]).toEqual([args, 0, '']);
    return performance.now() - startedAt;
  };
  // The realm counts this one and the pace does not: one of the others meets a 429 and waits instead of ending.
  const freelyMs = await ran(['member', ID], { ALMONER_RATE: 'none' });
  const commands = [
    ['member', ID],
    ['wallets', 'wa'],
    ['member', ID, '--web3'],
    ['plan', 'pay.csv', '--check', '--json'],
    ['member', ID],
    ['wallets', 'wa'],
    ['member', ID, '--web3'],
  ];
  let tookMs = 0;
  for (const args of commands) tookMs += await ran(args);
  // On a busy machine it is starting the program that takes the time.
  const idealMs = Math.max((WINDOW_S / REQUESTS) * 1000, freelyMs) * (commands.length - 1);
  // A slot that is not given back costs the time-out of its request: a minute, six times as long as the ideal.
  expect(tookMs / idealMs).toBeLessThan(3);
  const keys = await redis.client().keys('*:pace:*');
  expect([keys.some((key) => key.endsWith(':w')), keys.some((key) => key.endsWith(':o'))]).toEqual([
    true,
    false,
  ]);
});
