import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { storeFacts } from '../../../src/ledger/index.js';
import { inspectStore, type StoreFinding } from '../../../src/runtime/redis/safety.js';
import { freePort, startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function redis(settings: readonly string[] = []): Promise<TestRedis> {
  const server = await startRedis(settings);
  ended.push(() => server.stop());
  return server;
}

const codes = (findings: readonly StoreFinding[]) => findings.map(({ code }) => code).sort();

describe('the inspection of a Redis', () => {
  it('finds nothing at a safe one', async () => {
    expect(await inspectStore((await redis()).client())).toEqual([]);
  });

  it.each([
    ['ALM_STORE_NOT_APPEND_ONLY', ['--appendonly', 'no'], /appendonly no/],
    ['ALM_STORE_FSYNC', ['--appendfsync', 'everysec'], /appendfsync everysec/],
    ['ALM_STORE_FSYNC', ['--no-appendfsync-on-rewrite', 'yes'], /no-appendfsync-on-rewrite yes/],
    ['ALM_STORE_EVICTS', ['--maxmemory-policy', 'allkeys-lru'], /allkeys-lru/],
  ])('finds %s, saying the setting seen and the remedy', async (code, settings, seen) => {
    const [found, ...more] = await inspectStore((await redis(settings)).client());
    expect(found).toMatchObject({ code, message: expect.stringMatching(seen) });
    expect(found?.next).toContain('CONFIG SET');
    expect(more).toEqual([]);
  });

  it.each([
    ['--appendonly', 'YES', '--appendfsync', 'Always', '--no-appendfsync-on-rewrite', 'NO'],
    ['--maxmemory-policy', 'NoEviction'],
  ])('finds nothing at one whose settings are spelt otherwise: %s %s', async (...settings) => {
    expect(await inspectStore((await redis(settings)).client())).toEqual([]);
  });

  it('finds a server that stops syncing while it rewrites its file, in whichever spelling', async () => {
    const server = await redis(['--no-appendfsync-on-rewrite', 'YES']);
    const [found] = await inspectStore(server.client());
    expect(found).toMatchObject({ code: 'ALM_STORE_FSYNC', next: expect.stringContaining('rewrite no') });
    await server.client().config('SET', 'no-appendfsync-on-rewrite', 'no');
    expect(await inspectStore(server.client())).toEqual([]);
  });

  it('finds everything that is wrong at once', async () => {
    const server = await redis([
      '--appendonly',
      'no',
      '--appendfsync',
      'no',
      '--maxmemory-policy',
      'volatile-ttl',
    ]);
    expect(codes(await inspectStore(server.client()))).toEqual([
      'ALM_STORE_EVICTS',
      'ALM_STORE_FSYNC',
      'ALM_STORE_NOT_APPEND_ONLY',
    ]);
  });

  it('finds a replica', async () => {
    const server = await redis(['--replicaof', '127.0.0.1', String(await freePort())]);
    expect(codes(await inspectStore(server.client()))).toEqual(['ALM_STORE_REPLICA']);
  });

  it('asks for an attestation where CONFIG is denied, and still tells what INFO shows', async () => {
    const acl = ['--user', 'payer', 'on', '>pw', '~*', '&*', '+@all', '-config'];
    const safe = await redis(acl);
    expect(codes(await inspectStore(payer(safe)))).toEqual(['ALM_STORE_UNPROVEN']);
    const unsafe = await redis([...acl, '--appendonly', 'no']);
    expect(codes(await inspectStore(payer(unsafe)))).toEqual([
      'ALM_STORE_NOT_APPEND_ONLY',
      'ALM_STORE_UNPROVEN',
    ]);
  });

  it('asks for an attestation where CONFIG is renamed away and INFO is denied', async () => {
    const server = await redis([
      ...['--rename-command', 'CONFIG', ''],
      ...['--user', 'payer', 'on', '>pw', '~*', '&*', '+@all', '-info'],
    ]);
    const [found, ...more] = await inspectStore(payer(server));
    expect(found).toMatchObject({
      code: 'ALM_STORE_UNPROVEN',
      message: expect.stringContaining('unknown command'),
    });
    expect(more).toEqual([]);
  });

  it('loads every script, and finds each that the server does not compile', async () => {
    const server = await redis();
    const [good] = storeFacts.scripts.values();
    const bad = { name: 'settle', text: 'local a = = 1', sha: 'a'.repeat(40) };
    if (good === undefined) throw new Error('the ledger has no scripts');
    const [found, ...more] = await inspectStore(server.client(), [good, bad]);
    expect(found).toMatchObject({
      code: 'ALM_STORE_SCRIPT',
      message: expect.stringMatching(/ does not compile the script settle \(.*user_script:1: /i),
    });
    expect(more).toEqual([]);
    expect(await server.client().script('EXISTS', good.sha)).toEqual([1]);
  });

  it('leaves no script for the first payment to load', async () => {
    const client = (await redis()).client();
    await inspectStore(client);
    const known = await client.script('EXISTS', ...[...storeFacts.scripts.values()].map(({ sha }) => sha));
    expect(known).toEqual([...storeFacts.scripts].map(() => 1));
  });

  it('asks for an attestation where SCRIPT is denied', async () => {
    const server = await redis(['--user', 'payer', 'on', '>pw', '~*', '&*', '+@all', '-script']);
    expect(codes(await inspectStore(payer(server)))).toEqual(['ALM_STORE_UNPROVEN']);
  });

  it('fails, rather than calling it denied, when the connection is lost', async () => {
    const server = await redis();
    const client = new Redis({ port: server.port, retryStrategy: () => null, maxRetriesPerRequest: 0 });
    client.on('error', () => {});
    await until('the connection', () => client.status === 'ready');
    await server.kill();
    await expect(inspectStore(client)).rejects.toThrow();
  });
});

function payer(server: TestRedis): Redis {
  const client = new Redis({ port: server.port, username: 'payer', password: 'pw', enableReadyCheck: false });
  client.on('error', () => {});
  ended.push(async () => client.disconnect());
  return client;
}
