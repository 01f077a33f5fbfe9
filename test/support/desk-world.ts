import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { MAIN } from './almoner.js';
import { type RealmProcess, startRealmProcess } from './realm-process.js';
import { endServerOf } from './store-program.js';

const ready = z.object({ url: z.string(), token: z.string() });

/** `almoner serve` as a process of its own, with a worker inside. */
export type DeskProcess = z.infer<typeof ready> & {
  stderr(): string;
  end(signal: NodeJS.Signals): Promise<void>;
};

export async function startDeskProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd: string,
): Promise<DeskProcess> {
  const child = spawn(process.execPath, [MAIN, 'serve', '--json', ...args], {
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
  if (first === undefined) throw new Error(`serve ended before it was ready:\n${stderr}`);
  const parsed: unknown = JSON.parse(String(first[0]));
  return {
    ...ready.parse(parsed),
    stderr: () => stderr,
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
}

/**
 * A desk with two realms: `meadow` answers, `moor` applies changes and then often cuts the line, which under
 * certainty `manual` leaves doubts.
 */
export type DeskWorld = {
  readonly desk: DeskProcess;
  readonly folder: string;
  /** Lets further members join the meadow. */
  join(members: readonly string[]): Promise<void>;
  end(): Promise<void>;
};

export async function startDeskWorld(
  members: readonly string[],
  rules: readonly string[],
): Promise<DeskWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  const realms: RealmProcess[] = [];
  const keys = { meadow: randomBytes(24).toString('hex'), moor: randomBytes(24).toString('hex') };
  let desk: DeskProcess | undefined;
  const end = async () => {
    await desk?.end('SIGTERM');
    for (const realm of realms) await realm.end('SIGTERM');
    for (const data of ['data', 'realm']) await endServerOf(join(folder, data));
    await rm(folder, { recursive: true, force: true });
  };
  const serveRealm = async (name: keyof typeof keys, ids: readonly string[], ...args: string[]) => {
    const file = join(folder, 'members.csv');
    await writeFile(file, `member,tokens,level\n${ids.map((id, at) => `${id},1000,${at % 10}\n`).join('')}`);
    const realm = await startRealmProcess(
      ['--port', '0', '--realm-id', name, '--members', file, ...args],
      { ALMONER_DATA: join(folder, 'realm'), ALMONER_API_KEY: keys[name] },
      folder,
    );
    realms.push(realm);
    return realm;
  };
  try {
    const meadow = await serveRealm('meadow', members);
    const moor = await serveRealm('moor', members, '--fault', 'reset-after:0.6');
    await mkdir(join(folder, 'jobs'));
    for (const rule of rules) await writeFile(join(folder, 'jobs', `${rule}.yaml`), ruleOf(rule, members));
    await writeFile(join(folder, 'almoner.config.yaml'), configOf(folder, meadow.url, moor.url));
    const env = { MEADOW_KEY: keys.meadow, MOOR_KEY: keys.moor };
    desk = await startDeskProcess(['--port', '0', '--with-worker'], env, folder);
  } catch (error) {
    // A world that is half there has nobody else to end it.
    await end();
    throw error;
  }
  return {
    desk,
    folder,
    end,
    async join(ids) {
      const gate = await serveRealm('meadow', ids);
      await gate.end('SIGTERM');
    },
  };
}

/** JSON is YAML. */
function configOf(folder: string, meadowUrl: string, moorUrl: string): string {
  return JSON.stringify({
    dataFolder: join(folder, 'data'),
    reportsFolder: join(folder, 'reports'),
    jobsFolder: join(folder, 'jobs'),
    realms: {
      meadow: {
        baseUrl: meadowUrl,
        realmId: 'meadow',
        keyEnv: 'MEADOW_KEY',
        certainty: 'idempotent',
        rate: '80/s',
      },
      moor: { baseUrl: moorUrl, realmId: 'moor', keyEnv: 'MOOR_KEY', certainty: 'manual', rate: '80/s' },
    },
  });
}

/** Level 5 and above of the first twelve: five members, level being the last digit of their place. */
function ruleOf(name: string, members: readonly string[]): string {
  return `name: ${name}
realm: meadow
period: week
audience:
  members: [${members.slice(0, 12).join(', ')}]
condition: member.attributes.level >= 5
award:
  tokens: 10
reason: Level award
`;
}
