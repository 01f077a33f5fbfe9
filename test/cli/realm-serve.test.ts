import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFaultDice, parseFaults } from '../../src/realm/server/faults.js';
import { bareHttp } from '../support/bare-http.js';
import { almoner, startRealmProcess } from '../support/program/almoner.js';
import { startRedis, type TestRedis } from '../support/redis-server.js';
import { tempFolder } from '../support/temp-folder.js';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const member = (url: string, realm: string, key: string | undefined, id: string) =>
  bareHttp(`${url}/api/v4/realms/${realm}/members/${id}`, { headers: { authorization: `Bearer ${key}` } });

describe('almoner realm serve', () => {
  it('makes realm and key at the first start, keeps both and the balances at the next, and rotates on demand', async () => {
    const cwd = await tempFolder();
    const members = join(cwd, 'members.csv');
    await writeFile(members, 'member,tokens,wallets\n1190000000000000001,50,wa|wb\n');
    const env = { REDIS_URL: redis.url };
    const args = ['--port', '0', '--realm-id', 'club', '--members', members];
    const first = await startRealmProcess(args, env, cwd);
    expect(first).toMatchObject({ realm: 'club', key: expect.any(String) });
    const credit = await bareHttp(
      `${first.url}/api/v4/realms/club/members/1190000000000000001/tokenBalance`,
      { method: 'PATCH', body: { tokens: 5 }, headers: { authorization: `Bearer ${first.key}` } },
    );
    expect(credit.json).toEqual({ newBalance: 55 });
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await startRealmProcess(args, env, cwd);
    expect(second.key).toBeUndefined();
    expect((await member(second.url, 'club', first.key, '1190000000000000001')).json).toMatchObject({
      tokenBalance: 55,
      wallets: ['wa', 'wb'],
    });
    expect(await second.end('SIGINT')).toBe(0);

    const third = await startRealmProcess([...args, '--rotate-key'], env, cwd);
    expect((await member(third.url, 'club', first.key, '1')).status).toBe(401);
    expect((await member(third.url, 'club', third.key, '1190000000000000001')).status).toBe(200);
    expect(await third.end('SIGTERM')).toBe(0);
    expect(`${first.stderr()}${second.stderr()}${third.stderr()}`).not.toContain(first.key);
  });

  it('takes its key from ALMONER_API_KEY and never prints it', async () => {
    const cwd = await tempFolder();
    const key = 'brought-along-in-the-environment';
    const env = { REDIS_URL: redis.url, ALMONER_API_KEY: key };
    const service = await startRealmProcess(['--port', '0', '--rate', '2/h'], env, cwd);
    expect(service.key).toBeUndefined();
    expect((await member(service.url, service.realm, key, '1')).status).toBe(404);
    expect((await member(service.url, service.realm, 'other', '1')).status).toBe(401);
    expect((await member(service.url, service.realm, key, '1')).headers['x-ratelimit-remaining']).toBe('0');
    expect((await member(service.url, service.realm, key, '1')).status).toBe(429);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(service.stderr()).not.toContain(key);
  });

  it('makes the faults of the seed that it is given', async () => {
    const fault = 'error-before:0.5:503';
    const dice = createFaultDice(parseFaults([fault], 2), () => 0);
    const expected = Array.from({ length: 24 }, () => (dice.next().injected === null ? 404 : 503));
    expect(new Set(expected)).toEqual(new Set([404, 503]));
    const { url, realm, key, end } = await startRealmProcess(
      ['--port', '0', '--fault', fault, '--fault-seed', '2', '--rotate-key'],
      { REDIS_URL: redis.url },
      await tempFolder(),
    );
    const seen: number[] = [];
    for (const _ of expected) seen.push((await member(url, realm, key, '1')).status);
    await end('SIGTERM');
    expect(seen).toEqual(expected);
  });

  it('refuses bad switches and a bad members file before it listens', async () => {
    const cwd = await tempFolder();
    const env = { REDIS_URL: redis.url };
    const broken = join(cwd, 'broken.csv');
    await writeFile(broken, 'member,tokens\nabc,1\n');
    const bad: [string[], number, string][] = [
      [['--fault', 'eror-after:1'], 2, 'ALM_SERVICE_FAULT_INVALID'],
      [['--rate', 'fast'], 2, 'ALM_CLI_USAGE'],
      [['--port', '70000'], 2, 'ALM_CLI_USAGE'],
      [['--currency', 'gold coins'], 2, 'ALM_CLI_USAGE'],
      [['--currency', 'default'], 2, 'ALM_CLI_USAGE'],
      [['--realm-id', 'two words'], 2, 'ALM_SERVICE_REALM_ID_INVALID'],
      [['--members', broken], 3, 'ALM_SERVICE_MEMBERS_INVALID'],
    ];
    for (const [args, status, code] of bad) {
      const ran = await almoner(['realm', 'serve', '--json', ...args], { cwd, env });
      expect([args.join(' '), ran.status]).toEqual([args.join(' '), status]);
      expect(ran.stdout).toContain(code);
    }
  });

  it('says so when the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const listeners = process.listenerCount('SIGTERM');
    const ran = await almoner(['realm', 'serve', '--json', '--port', port], {
      cwd: await tempFolder(),
      env: { REDIS_URL: redis.url },
    });
    expect(ran.status).toBe(2);
    expect(ran.stdout).toContain('ALM_SERVICE_PORT_TAKEN');
    expect(process.listenerCount('SIGTERM')).toBe(listeners);
  });
});
