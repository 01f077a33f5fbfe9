import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { startDesk, type TestDesk } from '../support/program/desk.js';

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
