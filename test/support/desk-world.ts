import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, vi } from 'vitest';
import { parseFaults } from '../../src/realm/server/faults.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { type DeskProcess, startDeskProcess } from './almoner.js';
import { launchBrowser } from './desk-browser.js';
import { startRealm } from './realm-service.js';
import { startRedis } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';

/**
 * A desk with two realms: `meadow` answers, `moor` applies changes and then often cuts the line, which under
 * certainty `manual` leaves doubts. Each of `doors` is a profile that reaches the meadow at another address.
 */
export type DeskWorld = {
  readonly desk: DeskProcess;
  readonly folder: string;
  /** Its books. */
  readonly store: Redis;
  /** What a member has, by the meadow's own books. */
  balance(member: string): Promise<number>;
  /** Lets further members join the meadow. */
  join(members: readonly string[]): Promise<void>;
  end(): Promise<void>;
};

async function startDeskWorld(
  members: readonly string[],
  rules: readonly string[],
  doors: readonly string[],
  meadow: Meadow,
): Promise<DeskWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  const redis = await startRedis();
  const proxies: TcpProxy[] = [];
  const realmOf = async (realmId: Profile['realm'], ...faults: string[]) => {
    const realm = await startRealm(redis, { realmId, faults: parseFaults(faults) });
    await realm.admin.putMembers(realmId, members.map(seedOf));
    return realm;
  };
  const realms = { meadow: await realmOf('meadow'), moor: await realmOf('moor', 'reset-after:0.6') };
  const { admin, url } = realms.meadow;
  let desk: DeskProcess | undefined;
  const end = async () => {
    await desk?.end('SIGTERM');
    for (const proxy of proxies) await proxy.close();
    for (const realm of Object.values(realms)) await realm.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await mkdir(join(folder, 'jobs'));
    for (const rule of rules) await writeFile(join(folder, 'jobs', `${rule}.yaml`), ruleOf(rule, members));
    for (const _ of doors) proxies.push(await TcpProxy.open(Number(new URL(url).port)));
    const profiles: Profile[] = [
      { name: 'meadow', realm: 'meadow', url, certainty: 'idempotent' },
      { name: 'moor', realm: 'moor', url: realms.moor.url, certainty: 'manual' },
      ...proxies.map(({ port }, at) => ({
        name: doors[at] ?? '',
        realm: 'meadow' as const,
        url: `http://127.0.0.1:${port}`,
        certainty: 'idempotent',
      })),
    ];
    await writeFile(join(folder, 'almoner.config.yaml'), configOf(folder, profiles, meadow));
    const keys = profiles.map(({ name, realm }) => [keyEnvOf(name), realms[realm].key]);
    const env = { REDIS_URL: redis.url, ...Object.fromEntries(keys) };
    desk = await startDeskProcess(['--port', '0', '--with-worker'], env, folder);
  } catch (error) {
    // A world that is half there has nobody else to end it.
    await end();
    throw error;
  }
  return {
    desk,
    folder,
    store: redis.client(),
    end,
    balance: async (member) => (await admin.balance('meadow', member)) ?? Number.NaN,
    async join(ids) {
      await admin.putMembers('meadow', ids.map(seedOf));
    },
  };
}

const seedOf = (member: string, at: number): MemberSeed => ({
  member,
  tokens: 1_000,
  attributes: { level: at % 10 },
});

type Profile = {
  readonly name: string;
  readonly realm: 'meadow' | 'moor';
  readonly url: string;
  readonly certainty: string;
};

/** More of the meadow's profile. */
type Meadow = {
  readonly approval?: { readonly overTokens: number };
  readonly timezone?: string;
  readonly quietHours?: readonly string[];
};

const keyEnvOf = (name: string) => `${name.toUpperCase()}_KEY`;

/** JSON is YAML. */
function configOf(folder: string, profiles: readonly Profile[], meadow: Meadow): string {
  return JSON.stringify({
    dataFolder: join(folder, 'data'),
    reportsFolder: join(folder, 'reports'),
    jobsFolder: join(folder, 'jobs'),
    realms: Object.fromEntries(
      profiles.map(({ name, realm, url, certainty }) => [
        name,
        {
          baseUrl: url,
          realmId: realm,
          keyEnv: keyEnvOf(name),
          certainty,
          rate: '80/s',
          ...(name === 'meadow' ? meadow : {}),
        },
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
export function deskInBrowser(rules: readonly string[], realms: readonly string[] = [], meadow: Meadow = {}) {
  const both: { world?: DeskWorld; browser?: Browser } = {};
  // Batches must run to their end; on a machine under load that takes its time.
  vi.setConfig({ testTimeout: 60_000 });
  beforeAll(async () => {
    const [world, browser] = await Promise.all([
      startDeskWorld(MEMBERS, rules, realms, meadow),
      launchBrowser(),
    ]);
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
