import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deadManPing } from '../../src/operations/rules/dead-man.js';
import { startSchedules } from '../../src/operations/rules/schedules.js';
import { syncRules } from '../../src/operations/rules/sync.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { ledgerOf } from '../support/program/daily-schedule.js';
import { Program, REALM_ID } from '../support/program/program.js';
import { until } from '../support/until.js';

/** The desk calls an outside service after each good round. The service raises the alarm when the calls stop. */

let world: Program;
let server: Server;
let app: App;
let calls: string[];
let lines: string[];
let status = 200;
let isSilent = false;

beforeEach(async () => {
  [calls, lines, status, isSilent] = [[], [], 200, false];
  server = createServer((request, reply) => {
    calls.push(`${request.method} ${request.url}`);
    if (isSilent) return;
    reply.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await until('the port', () => server.listening);
  world = await Program.start({ store: 'own' });
  await world.file('almoner.config.yaml', 'deadMan: { urlEnv: ALMONER_DEAD_MAN_URL }\n');
  const { port } = server.address() as AddressInfo;
  const env = { ...world.env, ALMONER_DEAD_MAN_URL: `http://127.0.0.1:${port}/s3cret-path` };
  const config = await loadConfig({ env, cwd: world.folder, flags: {} });
  const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  app = await App.open({ config, logger, env, clientName: 'test', patienceMs: 5_000 });
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await app.close();
  await world.end();
});

const RULE = [
  'name: daily',
  `realm: ${REALM_ID}`,
  'schedule: { cron: "0 9 * * *", timezone: UTC, missed: once }',
  'period: day',
  'audience: { members: [101] }',
  'award: { tokens: 5 }',
  'limits: { perRun: 10 }',
  'reason: Daily',
].join('\n');

test('it is called after good rounds, and not while a time is without its outcome', async () => {
  await world.file('jobs/daily.yaml', RULE);
  const monday = Date.parse('2020-11-16T09:00:00Z');
  await syncRules(app, { cwd: world.folder, approve: ['daily'], prune: false, now: monday - 3_600_000 });
  let clock = monday - 60_000;
  const options = { stop: new AbortController().signal, now: () => clock, lookEveryMs: 20 };
  const schedules = await startSchedules(app, options);
  try {
    await until('some calls', () => calls.length > 2);
    expect(new Set(calls)).toEqual(new Set(['GET /s3cret-path']));
    // Somebody has claimed the rule and does nothing for it: two minutes after its time it has no outcome.
    await app.scripts.redis.set(`${ledgerOf(app).keyPrefix}:rules:claim:daily`, 'somebody');
    clock = monday + 120_000;
    await until('a round that is not good', () => lines.some((line) => line.includes('was not handled')));
    const before = calls.length;
    const rounds = () => lines.filter((line) => line.includes('was not handled')).length;
    const seen = rounds();
    await until('more such rounds', () => rounds() > seen + 3);
    expect(calls.length).toBeLessThanOrEqual(before + 1);
    await app.scripts.redis.del(`${ledgerOf(app).keyPrefix}:rules:claim:daily`);
    await until('the next call', () => calls.length > before + 2);
  } finally {
    await schedules.stop();
  }
});

test('no round waits for the call, one call is made at a time, and the URL is in no log', async () => {
  const stop = new AbortController();
  const ping = deadManPing(app, stop.signal);
  isSilent = true;
  ping();
  await until('the call', () => calls.length === 1);
  for (let more = 0; more < 5; more++) ping();
  server.closeAllConnections();
  await until('the word on it', () => lines.some((line) => line.includes('could not be called')));
  expect(calls).toHaveLength(1);
  [isSilent, status] = [false, 500];
  ping();
  await until('the word on the refusal', () => lines.some((line) => line.includes('did not take the call')));
  stop.abort();
  expect(lines.join('')).not.toContain('s3cret-path');
});
