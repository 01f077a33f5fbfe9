import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { MAIN } from './almoner.js';

const ready = z.object({ url: z.string(), realm: z.string(), key: z.string().optional() });

/** `almoner realm serve` as a process of its own. */
export type RealmProcess = z.infer<typeof ready> & {
  readonly pid: number;
  /** Everything it has said on stderr so far. */
  stderr(): string;
  /** Sends the signal and waits for the end; returns the exit status, null after a kill. */
  end(signal: NodeJS.Signals): Promise<number | null>;
};

export async function startRealmProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<RealmProcess> {
  const child = spawn(process.execPath, [MAIN, 'realm', 'serve', '--json', ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout });
  const first = await Promise.race([once(lines, 'line'), ended.then(() => undefined)]);
  if (first === undefined) throw new Error(`realm serve ended before it was ready:\n${stderr}`);
  const parsed: unknown = JSON.parse(String(first[0]));
  return {
    ...ready.parse(parsed),
    pid: child.pid ?? -1,
    stderr: () => stderr,
    async end(signal) {
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
  };
}
