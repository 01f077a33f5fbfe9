import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pino, { type Logger } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../../../src/runtime/redis/store.js';
import { freePort, SERVER_PROGRAM, startRedis, type TestRedis } from '../../support/redis-server.js';
import { until } from '../../support/until.js';

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const ended: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function redis(settings: readonly string[] = []): Promise<TestRedis> {
  const server = await startRedis(settings);
  ended.push(() => server.stop());
  return server;
}

async function open(
  redisUrl: string,
  { logger = pino({ level: 'silent' }), readyLimitMs }: { logger?: Logger; readyLimitMs?: number } = {},
): Promise<Store> {
  const store = await openStore({
    redisUrl,
    dataFolder: '/nowhere',
    clientName: 'test program',
    logger,
    readyLimitMs,
  });
  ended.push(() => store.close());
  return store;
}

async function works(store: Store): Promise<void> {
  await store.ledger.set('{t}a', '1');
  expect(await store.connect('jobs').get('{t}a')).toBe('1');
  expect(store.embedded).toBe(false);
}

describe('an outside Redis', () => {
  it('is used through redis://, with named connections, and stays when the store is closed', async () => {
    const server = await redis();
    const store = await open(server.url);
    await works(store);
    const list = String(await store.ledger.client('LIST'));
    expect(list).toMatch(/ name=almoner:test_program:\S+:ledger /);
    expect(list).toMatch(/ name=almoner:test_program:\S+:jobs /);
    await store.close();
    await store.close();
    const client = server.client();
    expect(await client.ping()).toBe('PONG');
    const clients = async () => String(await client.client('LIST')).includes('almoner:');
    await until('all connections to end', async () => !(await clients()));
  });

  it('is used as an ACL user, and a wrong password is told at once without showing it', async () => {
    const server = await redis(['--user', 'payer', 'on', '>right:horse', '~*', '&*', '+@all']);
    const store = await open(`redis://payer:right%3Ahorse@127.0.0.1:${server.port}`);
    await works(store);
    expect(await store.ledger.acl('WHOAMI')).toBe('payer');
    expect(store.address).toBe(`redis://payer:***@127.0.0.1:${server.port}/0`);

    const denied = await open(`redis://payer:battery@127.0.0.1:${server.port}`).catch(
      (error: unknown) => error,
    );
    expect(denied).toMatchObject({ code: 'ALM_STORE_DENIED', message: expect.stringContaining('WRONGPASS') });
    expect(JSON.stringify(denied, Object.getOwnPropertyNames(denied))).not.toContain('battery');
  });

  it('that wants a password says so when none was given', async () => {
    const server = await redis(['--requirepass', 'x']);
    await expect(open(server.url)).rejects.toMatchObject({ code: 'ALM_STORE_DENIED' });
  });

  it('is used through TLS, checking the certificate', async () => {
    const port = await freePort();
    await redis([
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', fixture('cert.pem'), '--tls-key-file', fixture('key.pem')],
      ...['--tls-ca-cert-file', fixture('cert.pem')],
    ]);
    await works(await open(`rediss://127.0.0.1:${port}?ca=${encodeURIComponent(fixture('cert.pem'))}`));
    await expect(open(`rediss://127.0.0.1:${port}`)).rejects.toMatchObject({
      code: 'ALM_STORE_UNREACHABLE',
      message: expect.stringMatching(/self.signed/i),
      next: expect.stringContaining('?ca=FILE'),
    });
    await expect(open(`rediss://127.0.0.1:${port}?ca=/no/such/file`)).rejects.toMatchObject({
      code: 'ALM_CONFIG_INVALID',
      message: expect.stringContaining('/no/such/file'),
    });
  });

  it('is found through Sentinel', async () => {
    const server = await redis();
    const sentinelPort = await startSentinel(server.port);
    const deadPort = await freePort();
    const store = await open(`redis+sentinel://127.0.0.1:${deadPort},127.0.0.1:${sentinelPort}/main`);
    await works(store);
    expect(await server.client().get('{t}a')).toBe('1');
  });

  it('may be a Cluster', async () => {
    const server = await redis(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']);
    await server.client().call('CLUSTER', 'ADDSLOTS', ...Array.from({ length: 16_384 }, (_, slot) => slot));
    const health = server.client();
    await until('the cluster to be up', async () =>
      String(await health.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    );
    await works(await open(`redis+cluster://127.0.0.1:${server.port}`));
  });

  it('that does not answer is told within seconds, naming the address and the cause', async () => {
    const port = await freePort();
    await expect(open(`redis://u:secret@127.0.0.1:${port}`, { readyLimitMs: 500 })).rejects.toMatchObject({
      code: 'ALM_STORE_UNREACHABLE',
      message: expect.stringMatching(new RegExp(`redis://u:\\*\\*\\*@127.0.0.1:${port}/0 .*ECONNREFUSED`)),
    });
  });

  it('that goes away fails ledger commands at once, while those of services wait for its return', async () => {
    const server = await redis();
    const store = await open(server.url);
    const service = store.connect('service');
    await service.ping();
    // A command without a reply: the server stands still when it is killed.
    const unanswered = store.ledger.call('DEBUG', 'SLEEP', '30');
    const refused = expect(unanswered).rejects.toThrow();
    await server.kill();
    await refused;
    await expect(store.ledger.incr('n')).rejects.toThrow();
    const waiting = service.incr('n');
    await server.restart();
    expect(await waiting).toBe(1);
    expect(await until('the ledger', () => store.ledger.get('n').catch(() => false))).toBe('1');
  });

  it('that goes away is logged at most once a second per connection', async () => {
    const server = await redis();
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const store = await open(server.url, { logger });
    await server.kill();
    const startedAt = performance.now();
    let errors = 0;
    store.ledger.on('error', () => {
      errors += 1;
    });
    await until('several failed reconnections', () => errors >= 5);
    const seconds = Math.ceil((performance.now() - startedAt) / 1000);
    expect(lines.length).toBeGreaterThanOrEqual(1);
    expect(lines.length).toBeLessThanOrEqual(seconds + 1);
  });
});

async function startSentinel(masterPort: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-sentinel-'));
  const port = await freePort();
  const config = join(folder, 'sentinel.conf');
  await writeFile(
    config,
    `bind 127.0.0.1\nport ${port}\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${masterPort} 1\n`,
  );
  const child: ChildProcess = spawn(SERVER_PROGRAM, [config, '--sentinel'], { stdio: 'ignore' });
  ended.push(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    await rm(folder, { recursive: true, force: true });
  });
  return port;
}
