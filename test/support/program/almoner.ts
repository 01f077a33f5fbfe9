import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

/** The built program; ALMONER_TEST_DIST names another build of it. */
const DIST = resolve(process.env.ALMONER_TEST_DIST ?? 'dist');
export const MAIN = join(DIST, 'cli/main.js');
const COMMAND_LINE = pathToFileURL(join(DIST, 'cli/frame/command-line.js')).href;
const HOME_FOLDER = process.cwd();

export type Ran = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** A running command, and its output so far. */
export type Started = {
  readonly child: ChildProcess;
  /** The exit status; null after a kill. */
  readonly ended: Promise<number | null>;
  stdout(): string;
  stderr(): string;
  /** Kills it if it is still running, and waits for its end. */
  kill(): Promise<void>;
};

type Given = { env?: NodeJS.ProcessEnv; cwd?: string; input?: string };

/**
 * Runs one command line of the built program inside this process. The code is the real one; it only saves the start of
 * another Node. The environment holds only what is passed, so that the machine's own configuration cannot reach a test.
 * test/cli/spawned.long.test.ts starts each command once as a process.
 */
export async function almoner(args: readonly string[], { env, cwd, input }: Given = {}): Promise<Ran> {
  const { CommandLine }: typeof import('../../../src/cli/frame/command-line.js') = await import(COMMAND_LINE);
  const [stdout, stderr] = [collected(), collected()];
  const leave = enter(cwd);
  try {
    const line = new CommandLine(args, {
      env: { ...surroundings(cwd), ...env },
      cwd: process.cwd(),
      stdin: Readable.from(input === undefined ? [] : [Buffer.from(input)]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      log: stderr.stream,
    });
    const ran = { status: await line.run(), stdout: stdout.text(), stderr: stderr.text() };
    // Exit status 1 reports a bug of the program, and no test expects one.
    if (ran.status === 1) throw new Error(`almoner ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return ran;
  } finally {
    leave();
  }
}

const surroundings = (cwd: string | undefined): NodeJS.ProcessEnv => ({ PATH: process.env.PATH, HOME: cwd });

let inside = 0;

/** Restores the working folder for the next file, in case a test timed out in the middle of a command. */
export function comeHome(): void {
  inside = 0;
  process.chdir(HOME_FOLDER);
}

/** Enters the folder in which a command looks up its files: a process has only one working folder. */
function enter(cwd: string | undefined): () => void {
  const before = process.cwd();
  if (cwd !== undefined && realpathSync(cwd) !== before) {
    if (inside > 0) throw new Error('two commands at once in two folders: start one of them with `spawned`');
    process.chdir(cwd);
  }
  inside += 1;
  return () => {
    inside = Math.max(0, inside - 1);
    if (inside === 0) process.chdir(HOME_FOLDER);
  };
}

function collected() {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}

/** Runs the command as a separate process, for tests of signals, standard streams and PATH. */
export async function spawned(args: readonly string[], options: Given = {}): Promise<Ran> {
  const { ended, stdout, stderr } = startAlmoner(args, options);
  return { status: await ended, stdout: stdout(), stderr: stderr() };
}

export function startAlmoner(
  args: readonly string[],
  options: Given & { nodeArgs?: readonly string[] },
): Started {
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), MAIN, ...args], {
    cwd: options.cwd,
    env: { ...surroundings(options.cwd), ...options.env },
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
  /** Everything written to stderr so far. */
  stderr(): string;
  /** Sends the signal and waits for the end; returns the exit status, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

const realmReady = z.object({ url: z.string(), realm: z.string(), key: z.string().optional() });
const deskReady = z.object({ url: z.string(), token: z.string() });

/** `almoner realm serve` as a separate process. */
export type RealmProcess = z.infer<typeof realmReady> & Service;
export const startRealmProcess = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<RealmProcess> => startService(realmReady, ['realm', 'serve', '--json', ...args], env, cwd);

/** `almoner serve` as a separate process. */
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
