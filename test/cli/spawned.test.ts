import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { spawned } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';

/**
 * The program as the process that a person starts: standard input and output, exit status and signals.
 * `spawned.long.test.ts` starts every command once.
 */
let world: Program;
beforeAll(async () => {
  world = await Program.start({ members: [{ member: '1', tokens: 100 }] });
});
afterAll(() => world.end());

const start = (args: readonly string[], input = '') =>
  spawned([...args, '--json'], { cwd: world.folder, env: world.env, input });

test('a command reads a file from standard input, prints one document and ends with its status', async () => {
  const planned = await start(['plan', '-'], 'member,tokens\n1,5\n');
  expect(planned).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(planned.stdout)).toMatchObject({ rows: 1, faults: [] });
  const ran = await start(['run', '-', '--yes'], 'member,tokens\n1,5\n404,6\n');
  expect(ran.status, ran.stderr).toBe(4);
  expect(JSON.parse(ran.stdout)).toMatchObject({ state: 'done', counts: { paid: 1, refused: 1 } });
});

test('a service runs until it is asked to stop', async () => {
  const worker = world.start(['worker', '--json']);
  if (worker.child.stderr === null) throw new Error('nothing is piped');
  await once(createInterface({ input: worker.child.stderr }), 'line');
  worker.child.kill('SIGTERM');
  expect(await worker.ended, worker.stderr()).toBe(0);
  expect(JSON.parse(worker.stdout())).toEqual({ stopped: true, realms: ['town'] });
});
