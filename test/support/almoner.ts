import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

/** The built program; ALMONER_TEST_DIST names another build of it. */
export const MAIN = resolve(process.env.ALMONER_TEST_DIST ?? 'dist', 'cli/main.js');

export type Ran = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/**
 * Runs the real binary to its end. The environment is empty but for what is given, so that nothing of the
 * machine's own configuration reaches a test.
 */
export async function almoner(
  args: readonly string[],
  options: { env?: NodeJS.ProcessEnv; cwd?: string; input?: string } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: options.cwd,
    env: { PATH: process.env.PATH, HOME: options.cwd, ...options.env },
    stdio: 'pipe',
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const [status] = await once(child, 'close');
  return {
    status: typeof status === 'number' ? status : null,
    stdout: Buffer.concat(out).toString('utf8'),
    stderr: Buffer.concat(err).toString('utf8'),
  };
}
