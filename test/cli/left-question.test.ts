import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAIN } from '../support/program/almoner.js';
import { Program } from '../support/program/program.js';
import { until } from '../support/until.js';

/** A person leaves a question unanswered, on a real terminal that `script` provides. */
let world: Program;
beforeAll(async () => {
  world = await Program.start({ members: [{ member: '1', tokens: 100 }] });
  await world.file('pay.csv', 'member,tokens\n1,5\n');
});
afterAll(() => world.end());

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

const onTerminal = (command: string) => {
  const line = `${process.execPath} ${MAIN} ${command}`;
  const env = { ...world.env, PATH: process.env.PATH, HOME: world.folder, SHELL: '/bin/sh' };
  const child = spawn('script', ['-qefc', line, '/dev/null'], { cwd: world.folder, env });
  let shown = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      shown += chunk.toString('utf8');
    });
  const ended = once(child, 'close').then(() => child.exitCode);
  const asks = (question: string) =>
    until('the question', () => Promise.resolve(shown.includes(question)), 60_000);
  return { ended, asks, shown: () => shown, press: (key: string) => child.stdin.write(key) };
};

it.each([
  ['Ctrl-C', CTRL_C],
  ['Ctrl-D', CTRL_D],
])(
  '%s at the confirmation is 130: nothing was sent, and nobody calls it a bug',
  { timeout: 120_000 },
  async (_, key) => {
    const terminal = onTerminal('run pay.csv');
    await terminal.asks('Type the total (5), all that is given, to go on');
    terminal.press(key);
    expect(await terminal.ended).toBe(130);
    expect(terminal.shown()).toContain('ALM_CLI_INTERRUPTED');
    expect(terminal.shown()).toContain('nothing was sent');
    expect(await world.appliedCount()).toBe(0);
    expect((await world.run('status')).stdout).toContain('There is no batch yet.');
  },
);
