import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { dataFolders } from '../support/data-folder.js';
import { almoner, MAIN } from '../support/program/almoner.js';
import { ask } from '../support/program/desk.js';
import { until } from '../support/until.js';

const newFolder = dataFolders();
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});

const ready = z.object({ url: z.string(), token: z.string().optional() });

async function serve(folder: string, ...args: string[]) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    ALMONER_DATA: folder,
    ALMONER_REPORTS: `${folder}/reports`,
  };
  const child = spawn(process.execPath, [MAIN, 'serve', '--json', '--port', '0', ...args], {
    cwd: folder,
    env,
  });
  children.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const closed = once(child, 'close');
  const first = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), closed]);
  if (child.exitCode !== null) throw new Error(`serve ended:\n${stderr}`);
  return {
    ...ready.parse(JSON.parse(String(first[0]))),
    stderr: () => stderr,
    async stop() {
      child.kill('SIGTERM');
      await closed;
      return child.exitCode;
    },
  };
}

test('on loopback without tokens it prints one for this start; with --with-worker an upload is paid', async () => {
  const folder = await newFolder();
  const desk = await serve(folder, '--with-worker');
  expect(desk.token).toMatch(/^almdesk_[\w-]{43}$/);
  const as = desk.token ?? '';
  expect((await ask(`${desk.url}/api/session`, { as })).json()).toMatchObject({
    name: 'local',
    roles: ['operator', 'admin'],
  });
  const login = await ask(`${desk.url}/api/login`, { method: 'POST', body: { token: as } });
  expect(login.status).toBe(200);
  expect((await ask(`${desk.url}/api/session`)).status).toBe(401);

  const upload = { method: 'POST', as, body: 'member,tokens\n10,5\n11,6\n' };
  const sent = z
    .object({ upload: z.string() })
    .parse((await ask(`${desk.url}/api/uploads?name=a.csv`, upload)).json());
  const body = { rows: 2, tokens: '11' };
  await ask(`${desk.url}/api/uploads/${sent.upload}/start`, { method: 'POST', as, body });
  await until(
    'the batch to be paid',
    async () => (await ask(`${desk.url}/api/batches/last`, { as })).text.includes('"state":"done"'),
    60_000,
  );
  expect(await desk.stop()).toBe(0);
  expect(desk.stderr()).not.toContain(as);

  // Its private store has started anew: a desk without a worker opens the ledger as well.
  const alone = await serve(folder);
  const recovery = async () => (await ask(`${alone.url}/api/recovery`, { as: alone.token ?? '' })).text;
  await until('the ledger to be open', async () => (await recovery()).includes('"state":"open"'), 30_000);
  expect(await alone.stop()).toBe(0);
}, 120_000);

test('named tokens close the desk to everybody else, and a revoked one is out at once', async () => {
  const folder = await newFolder();
  const env = { ALMONER_DATA: folder };
  const added = await almoner(['desk', 'token', 'add', 'ada', '--role', 'viewer', '--json'], {
    env,
    cwd: folder,
  });
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(added.stdout));
  const desk = await serve(folder);
  expect(desk.token).toBeUndefined();
  expect((await ask(`${desk.url}/api/session`, { as: token })).json()).toMatchObject({
    name: 'ada',
    roles: ['viewer'],
  });
  const list = await almoner(['desk', 'token', 'list', '--json'], { env, cwd: folder });
  expect(list.stdout).toContain('"ada"');
  expect(list.stdout).not.toContain(token);
  expect(
    (await almoner(['desk', 'token', 'add', 'ada', '--role', 'viewer'], { env, cwd: folder })).status,
  ).toBe(2);
  expect((await almoner(['desk', 'token', 'revoke', 'ada'], { env, cwd: folder })).status).toBe(0);
  expect((await ask(`${desk.url}/api/session`, { as: token })).status).toBe(401);
  expect(await desk.stop()).toBe(0);
}, 120_000);

test('beyond loopback it does not start in plain http unless told to', async () => {
  const folder = await newFolder();
  const refused = await almoner(['serve', '--host', '0.0.0.0', '--port', '0', '--json'], {
    env: { ALMONER_DATA: folder },
    cwd: folder,
  });
  expect(refused.status).toBe(2);
  expect(refused.stdout).toContain('ALM_DESK_INSECURE');
  const desk = await serve(folder, '--host', '0.0.0.0', '--insecure-http');
  expect(desk.token).toBeUndefined();
  expect((await ask(`${desk.url}/health`)).status).toBe(200);
  await desk.stop();
}, 120_000);
