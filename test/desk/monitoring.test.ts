import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

let desk: TestDesk;
let served: Set<string>;

beforeAll(async () => {
  desk = await startDesk();
  const names = (await desk.call('/metrics')).text.matchAll(/^# TYPE (\S+)/gm);
  served = new Set([...names].map(([, name = '']) => name));
});
afterAll(() => desk.close());

/** Metrics that an expression names, histograms by their family. */
const named = (expression: string) =>
  [...expression.matchAll(/almoner_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|sum|count)$/, ''));
const unknown = (expressions: readonly string[]) =>
  expressions.flatMap(named).filter((name) => !served.has(name));

test('every alert asks for metrics that the desk serves, and says what to do', () => {
  const file = z.object({
    groups: z.array(
      z.object({
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            annotations: z.object({ summary: z.string(), description: z.string() }),
          }),
        ),
      }),
    ),
  });
  const { groups } = file.parse(parse(readFileSync('deploy/monitoring/alerts.yml', 'utf8')));
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(8);
  expect(unknown(rules.map(({ expr }) => expr))).toEqual([]);
});

test('every panel of the dashboard asks for metrics that the desk serves', () => {
  const dashboard = z.object({
    panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })),
  });
  const { panels } = dashboard.parse(
    JSON.parse(readFileSync('deploy/monitoring/grafana/almoner.json', 'utf8')),
  );
  expect(unknown(panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))).toEqual([]);
});

test('docker compose starts them under a profile of their own, from files that exist', () => {
  const service = z.object({
    profiles: z.array(z.string()).optional(),
    volumes: z.array(z.string()).optional(),
  });
  const compose = z
    .object({ services: z.record(z.string(), service) })
    .parse(parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }));
  for (const name of ['prometheus', 'grafana']) {
    const found = compose.services[name];
    expect(found?.profiles).toEqual(['monitoring']);
    const files = (found?.volumes ?? []).filter((volume) => volume.startsWith('./'));
    expect(files.length).toBeGreaterThan(0);
    for (const volume of files)
      expect([volume, existsSync(volume.split(':')[0] ?? '')]).toEqual([volume, true]);
  }
});

/** The value of a series of one realm. */
async function metric(name: string): Promise<number> {
  const { text } = await desk.call('/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${name}{`));
  return Number(line?.split(' ').at(-1));
}

test('orders that wait for a set time are no standstill, and dead letters are counted', async () => {
  const sent = await desk.call('/api/uploads?name=later.csv', {
    method: 'POST',
    body: 'member,tokens\n1,5\n2,5\n',
  });
  const { upload } = z.object({ upload: z.string() }).parse(sent.json());
  const begin = new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+Z$/, 'Z');
  await desk.call(`/api/uploads/${upload}/plan`, { method: 'POST', body: { begin } });
  const started = await desk.call(`/api/uploads/${upload}/start`, {
    method: 'POST',
    body: { rows: 2, tokens: '10', begin },
  });
  expect(started.status).toBe(200);
  await until('the orders to be seen', async () => (await metric('almoner_queue_depth')) === 2);
  expect(await metric('almoner_orders_scheduled')).toBe(2);
  expect(await metric('almoner_dead_letters')).toBe(0);
  const standstill = readFileSync('deploy/monitoring/alerts.yml', 'utf8');
  expect(standstill).toContain('almoner_queue_depth - on (realm) almoner_orders_scheduled > 0');
});
