import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, vi } from 'vitest';
import { z } from 'zod';
import { type DeskProcess, type RealmProcess, startDeskProcess, startRealmProcess } from './almoner.js';
import { launchBrowser } from './desk-browser.js';
import { endServerOf } from './store-program.js';
import { TcpProxy } from './tcp-proxy.js';

/**
 * A desk with two realms: `meadow` answers, `moor` applies changes and then often cuts the line, which under
 * certainty `manual` leaves doubts. Each of `doors` is a profile that reaches the meadow at another address.
 */
export type DeskWorld = {
  readonly desk: DeskProcess;
  readonly folder: string;
  /** What a member has, by the meadow's own word. */
  balance(member: string): Promise<number>;
  /** Lets further members join the meadow. */
  join(members: readonly string[]): Promise<void>;
  end(): Promise<void>;
};

async function startDeskWorld(
  members: readonly string[],
  rules: readonly string[],
  doors: readonly string[] = [],
): Promise<DeskWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  const realms: RealmProcess[] = [];
  const proxies: TcpProxy[] = [];
  const keys = { meadow: randomBytes(24).toString('hex'), moor: randomBytes(24).toString('hex') };
  let desk: DeskProcess | undefined;
  let meadow: RealmProcess;
  const end = async () => {
    await desk?.end('SIGTERM');
    for (const proxy of proxies) await proxy.close();
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
    meadow = await serveRealm('meadow', members);
    const moor = await serveRealm('moor', members, '--fault', 'reset-after:0.6');
    await mkdir(join(folder, 'jobs'));
    for (const rule of rules) await writeFile(join(folder, 'jobs', `${rule}.yaml`), ruleOf(rule, members));
    for (const _ of doors) proxies.push(await TcpProxy.open(Number(new URL(meadow.url).port)));
    const profiles: Profile[] = [
      { name: 'meadow', realm: 'meadow', url: meadow.url, certainty: 'idempotent' },
      { name: 'moor', realm: 'moor', url: moor.url, certainty: 'manual' },
      ...proxies.map(({ port }, at) => ({
        name: doors[at] ?? '',
        realm: 'meadow' as const,
        url: `http://127.0.0.1:${port}`,
        certainty: 'idempotent',
      })),
    ];
    await writeFile(join(folder, 'almoner.config.yaml'), configOf(folder, profiles));
    const env = Object.fromEntries(profiles.map(({ name, realm }) => [keyEnvOf(name), keys[realm]]));
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
    async balance(member) {
      const headers = { authorization: `Bearer ${keys.meadow}` };
      const reply = await fetch(`${meadow.url}/api/v4/realms/meadow/members/${member}`, { headers });
      return z.object({ tokenBalance: z.number() }).parse(await reply.json()).tokenBalance;
    },
    async join(ids) {
      const gate = await serveRealm('meadow', ids);
      await gate.end('SIGTERM');
    },
  };
}

type Profile = {
  readonly name: string;
  readonly realm: 'meadow' | 'moor';
  readonly url: string;
  readonly certainty: string;
};

const keyEnvOf = (name: string) => `${name.toUpperCase()}_KEY`;

/** JSON is YAML. */
function configOf(folder: string, profiles: readonly Profile[]): string {
  return JSON.stringify({
    dataFolder: join(folder, 'data'),
    reportsFolder: join(folder, 'reports'),
    jobsFolder: join(folder, 'jobs'),
    realms: Object.fromEntries(
      profiles.map(({ name, realm, url, certainty }) => [
        name,
        { baseUrl: url, realmId: realm, keyEnv: keyEnvOf(name), certainty, rate: '80/s' },
      ]),
    ),
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

const MEMBERS = Array.from({ length: 40 }, (_, at) => String(119_000_000_000_000_001n + BigInt(at)));

/** A desk with its realm and a browser, for all tests of a file. */
export function deskInBrowser(rules: readonly string[], realms: readonly string[] = []) {
  const both: { world?: DeskWorld; browser?: Browser } = {};
  // Batches must run to their end; on a machine under load that takes its time.
  vi.setConfig({ testTimeout: 60_000 });
  beforeAll(async () => {
    const [world, browser] = await Promise.all([startDeskWorld(MEMBERS, rules, realms), launchBrowser()]);
    Object.assign(both, { world, browser });
  });
  afterAll(async () => {
    await both.browser?.close();
    await both.world?.end();
  });
  const begun = () => {
    if (both.world === undefined || both.browser === undefined) throw new Error('the desk has not begun');
    return { world: both.world, browser: both.browser };
  };
  return { members: MEMBERS, world: () => begun().world, browser: () => begun().browser };
}
