import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** The built program; ALMONER_TEST_DIST names another build of it. */
export const MAIN = resolve(process.env.ALMONER_TEST_DIST ?? 'dist', 'cli/main.js');

export type Ran = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** A command that was left running, and everything it has said so far. */
export type Started = {
  readonly child: ChildProcess;
  /** The exit status, null after a kill. */
  readonly ended: Promise<number | null>;
  stdout(): string;
  stderr(): string;
  /** Ends it, where it is still running, and waits for it. */
  kill(): Promise<void>;
};

/**
 * Runs the real binary to its end. The environment is empty but for what is given, so that nothing of the
 * machine's own configuration reaches a test.
 */
export async function almoner(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
): Promise<Ran> {
  const { ended, stdout, stderr } = startAlmoner(args, options);
  return { status: await ended, stdout: stdout(), stderr: stderr() };
}

export function startAlmoner(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string; nodeArgs?: readonly string[] },
): Started {
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), MAIN, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: options.cwd, ...options.env },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {}).end(options.input ?? '');
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  const ended = once(child, 'close').then(() => child.exitCode);
  return {
    child,
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
    stdout: () => Buffer.concat(out).toString('utf8'),
    stderr: () => Buffer.concat(err).toString('utf8'),
  };
}

type Service = {
  readonly pid: number;
  /** Everything it has said on stderr so far. */
  stderr(): string;
  /** Sends the signal and waits for the end; returns the exit status, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

const realmReady = z.object({ url: z.string(), realm: z.string(), key: z.string().optional() });
const deskReady = z.object({ url: z.string(), token: z.string() });

/** `almoner realm serve` as a process of its own. */
export type RealmProcess = z.infer<typeof realmReady> & Service;
export const startRealmProcess = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<RealmProcess> => startService(realmReady, ['realm', 'serve', '--json', ...args], env, cwd);

/** `almoner serve` as a process of its own. */
export type DeskProcess = z.infer<typeof deskReady> & Service;
export const startDeskProcess = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<DeskProcess> => startService(deskReady, ['serve', '--json', ...args], env, cwd);

async function startService<T>(
  ready: z.ZodType<T>,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<T & Service> {
  const { child, ended, stderr } = startAlmoner(args, { env, cwd });
  if (child.stdout === null) throw new Error('stdout is not piped');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (first === undefined) throw new Error(`${args[0]} ended before it was ready:\n${stderr()}`);
  const said: unknown = JSON.parse(String(first[0]));
  return {
    ...ready.parse(said),
    pid: child.pid ?? -1,
    stderr,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
