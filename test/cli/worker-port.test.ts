import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

/** `almoner worker --metrics-port`: what a supervisor asks of a worker. */
let world: Program;
beforeAll(async () => {
  world = await Program.start({ store: 'own' });
});
afterAll(() => world.end());

async function started(
  ...args: readonly string[]
): Promise<{ url: string; stop: () => Promise<number | null> }> {
  const worker = world.start(['worker', '--metrics-port', '0', ...args]);
  if (worker.child.stderr === null) throw new Error('nothing is piped');
  const [line] = await once(createInterface({ input: worker.child.stderr }), 'line');
  const url = /http:\/\/\S+:\d+/.exec(String(line))?.[0];
  if (url === undefined) throw new Error(`no address in: ${line}`);
  const stop = () => {
    worker.child.kill('SIGTERM');
    return worker.ended;
  };
  return { url, stop };
}

test('it answers /health, /ready and /metrics on loopback, says that its store is away, and ends in order', async () => {
  const { url, stop } = await started();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const ask = async (path: string, method = 'GET') => {
    const reply = await fetch(url + path, { method });
    return { status: reply.status, body: await reply.text() };
  };
  expect(await ask('/health')).toEqual({ status: 200, body: '{"ok":true}' });
  expect(await ask('/ready')).toEqual({ status: 200, body: '{"ok":true}' });
  const metrics = await ask('/metrics');
  expect(metrics.status).toBe(200);
  expect(metrics.body).toMatch(/^almoner_worker_process_cpu_seconds_total \d/m);
  expect((await ask('/')).status).toBe(404);
  expect((await ask('/health', 'POST')).status).toBe(405);

  await world.store.kill();
  await until('the store to be missed', async () => (await ask('/ready')).status === 503);
  expect((await ask('/health')).status).toBe(200);
  await world.store.restart();
  await until('the store to be back', async () => (await ask('/ready')).status === 200);
  expect(await stop()).toBe(0);
});

test('a port that is taken, and an address without a port, are refused before any work', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const bound = other.address();
  const port = typeof bound === 'object' && bound !== null ? String(bound.port) : '';
  const taken = await world.run('worker', '--metrics-port', port, '--json');
  expect(taken.status).toBe(2);
  expect(taken.stderr + taken.stdout).toContain('ALM_SERVICE_PORT_TAKEN');
  const alone = await world.run('worker', '--metrics-host', '::1');
  expect([alone.status, alone.stderr]).toEqual([2, expect.stringContaining('--metrics-port')]);
});
