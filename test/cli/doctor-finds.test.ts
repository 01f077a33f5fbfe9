import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { storeFacts } from '../../src/ledger/index.js';
import { almoner } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { freePort, startRedis, type TestRedis } from '../support/redis-server.js';
import { tempFolder } from '../support/temp-folder.js';

type Check = { name: string; state: string; message: string; remedy?: string };

async function doctor(env: NodeJS.ProcessEnv, name: string): Promise<Check & { status: number | null }> {
  const cwd = await tempFolder();
  // A store that is away is found after this time.
  writeFileSync(join(cwd, 'almoner.config.yaml'), 'limits: { storeAnswerMs: 500 }\n');
  const data = { ALMONER_DATA: join(cwd, 'data'), ALMONER_REPORTS: join(cwd, 'reports') };
  const ran = await almoner(['doctor', '--json'], { cwd, env: { ...data, ...env } });
  const { checks }: { checks: Check[] } = JSON.parse(ran.stdout);
  const found = checks.find((check) => check.name.includes(name));
  if (found === undefined) throw new Error(`no check ${name} in ${ran.stdout}`);
  return { ...found, status: ran.status };
}

describe('an unsafe store', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** The store is unsafe in this way until the test is over. */
  async function set(setting: string, value: string): Promise<void> {
    const client = redis.client();
    const [, before = ''] = z.array(z.string()).parse(await client.config('GET', setting));
    await client.config('SET', setting, value);
    onTestFinished(async () => void (await client.config('SET', setting, before)));
  }

  test.each([
    ['without append-only', 'appendonly', 'no', 'ALM_STORE_NOT_APPEND_ONLY', /appendonly yes/],
    ['that does not fsync every write', 'appendfsync', 'everysec', 'ALM_STORE_FSYNC', /appendfsync always/],
    ['that evicts', 'maxmemory-policy', 'allkeys-lru', 'ALM_STORE_EVICTS', /noeviction/],
  ])('%s is found, with the remedy', async (_, setting, value, code, remedy) => {
    await set(setting, value);
    const found = await doctor({ REDIS_URL: redis.url }, 'store');
    expect(found).toMatchObject({ status: 2, state: 'failed' });
    expect(found.message).toContain(code);
    expect(found.remedy).toMatch(remedy);
  });

  test('every script is loaded before the store is called safe', async () => {
    await redis.client().script('FLUSH');
    const found = await doctor({ REDIS_URL: redis.url }, 'store');
    expect(found).toMatchObject({ state: 'ok', message: expect.stringContaining('compiles every script') });
    const known = await redis
      .client()
      .script('EXISTS', ...[...storeFacts.scripts.values()].map(({ sha }) => sha));
    expect(known).toEqual([...storeFacts.scripts].map(() => 1));
  });

  test('that does not answer is found', async () => {
    const found = await doctor({ REDIS_URL: `redis://127.0.0.1:${await freePort()}` }, 'store');
    expect(found).toMatchObject({ status: 2, state: 'failed', remedy: expect.stringContaining('REDIS_URL') });
  });

  test('is refused by a command that pays, unless its risk is named', async () => {
    await set('appendfsync', 'everysec');
    const cwd = await tempFolder();
    const env = {
      REDIS_URL: redis.url,
      ALMONER_REPORTS: join(cwd, 'reports'),
      ALMONER_DATA: join(cwd, 'data'),
    };
    writeFileSync(join(cwd, 'one.csv'), 'member,tokens\n123,5\n');
    const refused = await almoner(['run', 'one.csv', '--yes'], { cwd, env });
    expect(refused).toMatchObject({ status: 5, stderr: expect.stringContaining('ALM_STORE_FSYNC') });
    const accepted = await almoner(['run', 'one.csv', '--yes', '--json'], {
      cwd,
      env: { ...env, ALMONER_ACCEPT_RISKS: 'fsync' },
    });
    expect(accepted.status, accepted.stderr).toBe(0);
    const { batch } = JSON.parse(accepted.stdout);
    expect(readFileSync(join(cwd, 'reports', batch, 'summary.json'), 'utf8')).toContain(
      'Accepted risk of the store: fsync',
    );
  });
});

test('a private store that ended with the last command is no fault', async () => {
  const cwd = await tempFolder();
  const env = { ALMONER_DATA: join(cwd, 'data'), ALMONER_REPORTS: join(cwd, 'reports') };
  writeFileSync(join(cwd, 'one.csv'), 'member,tokens\n123,5\n');
  const rehearsed = await almoner(['rehearse', 'one.csv'], { cwd, env });
  expect(rehearsed.status, rehearsed.stderr).toBe(0);
  expect(await doctor(env, 'journals')).toMatchObject({ status: 0, state: 'ok' });
});

describe('a realm', () => {
  let world: Program;
  beforeAll(async () => {
    world = await Program.start();
    await world.admin.issueKey('other');
  });
  afterAll(() => world.end());

  const realm = () => ({
    REDIS_URL: world.env.REDIS_URL,
    ALMONER_REALM_URL: world.realm.url,
    ALMONER_REALM_ID: 'town',
    ALMONER_API_KEY: world.env.ALMONER_API_KEY,
  });

  test('that answers is fine', async () => {
    expect(await doctor(realm(), 'answers')).toMatchObject({ status: 0, state: 'ok' });
  });

  test('that cannot be reached is found', async () => {
    const found = await doctor(
      { ...realm(), ALMONER_REALM_URL: `http://127.0.0.1:${await freePort()}` },
      'answers',
    );
    expect(found).toMatchObject({
      status: 2,
      state: 'failed',
      message: expect.stringContaining('ALM_REALM_UNREACHABLE'),
    });
  });

  test('with a wrong key is found', async () => {
    const found = await doctor({ ...realm(), ALMONER_API_KEY: 'wrong-key-of-nobody-0123456789' }, 'answers');
    expect(found).toMatchObject({
      status: 2,
      state: 'failed',
      message: expect.stringContaining('ALM_REALM_KEY_REFUSED'),
    });
  });

  test('is not sent the key that was given for another one', async () => {
    const seen: unknown[] = [];
    const former = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(former, 'listening');
    const address = former.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const cwd = await tempFolder();
    const env = { ...realm(), ALMONER_DATA: join(cwd, 'data'), ALMONER_REPORTS: join(cwd, 'reports') };
    try {
      // As `init` writes it by default; and `init` itself asks the realm at once.
      const { ALMONER_REALM_URL: _, ALMONER_REALM_ID: __, ...rest } = env;
      const init = ['init', '--url', `http://127.0.0.1:${port}`, '--realm-id', 'former', '--json'];
      const begun = await almoner(init, { cwd, env });
      expect(JSON.parse(begun.stdout)).toMatchObject({
        check: { state: 'failed', message: expect.stringContaining('realm former at') },
      });
      for (const command of [['doctor', '--json'], ['member', '1', '--realm', 'former'], ['worker']]) {
        const ran = await almoner(command, { cwd, env });
        expect(ran.status, ran.stdout).toBe(2);
        expect(`${ran.stdout}${ran.stderr}`).toContain('reads the same variable ALMONER_API_KEY');
      }
      expect(seen).toEqual([]);
      expect((await almoner(['doctor'], { cwd, env: rest })).status).toBe(0);
      expect(seen).toHaveLength(1);
    } finally {
      former.close();
    }
  });

  test('that the key does not belong to is found', async () => {
    const found = await doctor({ ...realm(), ALMONER_REALM_ID: 'other' }, 'answers');
    expect(found).toMatchObject({
      status: 2,
      state: 'failed',
      message: expect.stringContaining('ALM_REALM_KEY_OTHER_REALM'),
    });
  });
});

test('a folder that cannot be written is found, with the setting that moves it', async () => {
  const cwd = await tempFolder();
  writeFileSync(join(cwd, 'file'), '');
  const found = await doctor({ ALMONER_REPORTS: join(cwd, 'file', 'reports') }, 'reports folder');
  expect(found).toMatchObject({
    status: 2,
    state: 'failed',
    remedy: expect.stringContaining('ALMONER_REPORTS'),
  });
});
