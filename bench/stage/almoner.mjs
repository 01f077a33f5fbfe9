import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAIN } from './dist.mjs';
import { REALM_ID } from './realm.mjs';

/** An operator with folders of their own: runs commands, or starts one and leaves it running. */
export async function openOperator({ realm, redisUrl, rate = 'none', certainty = 'idempotent', env = {} }) {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-bench-'));
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    ...(redisUrl && { REDIS_URL: redisUrl }),
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: REALM_ID,
    ALMONER_API_KEY: realm.key,
    ALMONER_RATE: rate,
    ALMONER_CERTAINTY: certainty,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
    ALMONER_LOG_LEVEL: 'error',
    ...env,
  };
  const children = new Set();
  const start = (args, { nodeArgs = [], more = {}, main = MAIN } = {}) => {
    const child = spawn(process.execPath, [...nodeArgs, main, ...args], {
      cwd: folder,
      env: { ...environment, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    const out = [];
    const err = [];
    child.stdout.on('data', (chunk) => out.push(chunk));
    child.stderr.on('data', (chunk) => err.push(chunk));
    const ended = once(child, 'close').then(([status]) => {
      children.delete(child);
      return { status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
    });
    return { child, ended, stderr: () => Buffer.concat(err).toString() };
  };
  return {
    folder,
    env: environment,
    start,
    /** Runs a command to its end and reads its JSON; anything but 0 and 4 is an error of the bench. */
    async json(...args) {
      const begin = performance.now();
      const { status, stdout, stderr } = await start([...args, '--json']).ended;
      if (status !== 0 && status !== 4 && status !== 5)
        throw new Error(
          `almoner ${args.join(' ')} ended with ${status}: ${stderr.slice(-2000)}${stdout.slice(-500)}`,
        );
      return { ...JSON.parse(stdout), seconds: (performance.now() - begin) / 1000 };
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await rm(folder, { recursive: true, force: true }).catch(() => {});
    },
  };
}

/** The largest resident memory of a running process so far, in megabytes. */
export async function peakMegabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000;
}
