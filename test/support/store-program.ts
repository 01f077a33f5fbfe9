import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { until } from './until.js';

const STEP = z.discriminatedUnion('step', [
  z.object({ step: z.literal('open'), count: z.number(), serverPid: z.number() }),
  z.object({ step: z.literal('closed') }),
  z.object({ step: z.literal('failed'), code: z.string().nullable(), message: z.string() }),
]);
type Step = z.infer<typeof STEP>;

/** A real process that uses the store of a data folder. */
export type StoreProgram = {
  readonly opened: Promise<{ count: number; serverPid: number }>;
  /** Its last message, once it has ended by itself. */
  readonly ended: Promise<Step>;
  close(): Promise<Step>;
  kill(): Promise<void>;
};

const PROGRAM = fileURLToPath(new URL('./store-program.mjs', import.meta.url));

export function startStoreProgram(dataFolder: string): StoreProgram {
  const child = spawn(process.execPath, [PROGRAM, dataFolder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const steps: Step[] = [];
  const exited = once(child, 'close');
  createInterface({ input: child.stdout }).on('line', (line) => steps.push(STEP.parse(JSON.parse(line))));
  const ended = exited.then(() => steps.at(-1) ?? { step: 'failed' as const, code: null, message: 'silent' });
  return {
    opened: until('the store program to open its store', () => firstAnswer(child, steps), 60_000),
    ended,
    async close() {
      child.stdin.end('close\n');
      return await ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function firstAnswer(
  child: ChildProcess,
  steps: readonly Step[],
): { count: number; serverPid: number } | false {
  const [first] = steps;
  if (first?.step === 'open') return first;
  if (first !== undefined || child.exitCode !== null) throw new Error(`not opened: ${JSON.stringify(first)}`);
  return false;
}

/** A zombie counts as dead: pid 1 of a container may take seconds to reap it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    return existsSync('/proc') ? false : error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}

/** Kills the process that a test left running in a data folder, by its pid file. */
export async function endServerOf(dataFolder: string): Promise<void> {
  const pid = Number(await readFile(join(dataFolder, 'redis', 'server.pid'), 'utf8').catch(() => ''));
  if (pid <= 0 || !isAlive(pid)) return;
  process.kill(pid, 'SIGKILL');
  await until('the server to end', () => !isAlive(pid));
}
