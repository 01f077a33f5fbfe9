import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { MemberSeed } from '../../../src/realm/server/members.js';
import { type DeskProcess, startDeskProcess } from './almoner.js';
import { launchBrowser } from './desk-browser.js';
import { Program } from './program.js';
import type { AppliedChange } from './realm-records.js';

/**
 * A desk with a worker, as a process, over two realms. `meadow` answers. `moor` applies changes and then often drops
 * the connection, which leaves doubts under certainty `manual`. Each of `doors` is a profile that reaches the meadow at
 * another address. With `slow` there is a third realm, `fen`, that accepts two orders a second, so that a batch of it
 * runs until a person ends it.
 */
export type DeskWorld = {
  readonly desk: DeskProcess;
  readonly folder: string;
  /** The desk's store. */
  readonly store: Redis;
  /** The balance of a member in the meadow's own records. */
  balance(member: string): Promise<number>;
  /** Every change in the meadow's own log. */
  applied(): Promise<AppliedChange[]>;
  /** Adds members to the meadow. */
  join(members: readonly string[]): Promise<void>;
  end(): Promise<void>;
};

/** A limit, so that a pace is shown, but so high that no test waits for it. */
const RATE = '500/s';

async function startDeskWorld(
  rules: readonly string[],
  doors: readonly string[],
  { slow = false, ...profile }: Meadow,
): Promise<DeskWorld> {
  const members = MEMBERS.map(seedOf);
  const program = await Program.start({
    name: 'meadow',
    members,
    rate: RATE,
    profile,
    realms: {
      moor: { members, rate: RATE, certainty: 'manual', faults: ['reset-after:0.6'] },
      ...(slow ? { fen: { members, rate: '2/s' } } : {}),
      ...Object.fromEntries(doors.map((name) => [name, { rate: RATE, sameAs: 'main' as const }])),
    },
  });
  let desk: DeskProcess | undefined;
  const end = async () => {
    await desk?.end('SIGTERM');
    await program.end();
  };
  const { admin, folder } = program;
  try {
    await mkdir(join(folder, 'jobs'));
    for (const rule of rules) await program.file(`jobs/${rule}.yaml`, ruleOf(rule));
    await admin.addCurrencies('meadow', profile.currencies ?? []);
    desk = await startDeskProcess(['--port', '0', '--with-worker'], program.env, folder);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    desk,
    folder,
    store: program.store.client(),
    end,
    balance: async (member) => (await admin.balance('meadow', member)) ?? Number.NaN,
    applied: () => admin.appliedChanges('meadow'),
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

/** Further settings of the meadow's profile, and whether there is a slow realm. */
type Meadow = {
  readonly slow?: boolean;
  readonly approval?: { readonly overTokens: number };
  readonly timezone?: string;
  readonly quietHours?: readonly string[];
  readonly currencies?: readonly string[];
};

/**
 * A rule over the first twelve members that pays level 5 and above: five members, because the level is the last digit
 * of their position.
 */
function ruleOf(name: string): string {
  return `name: ${name}
realm: meadow
period: week
audience:
  members: [${MEMBERS.slice(0, 12).join(', ')}]
condition: member.attributes.level >= 5
award:
  tokens: 10
reason: Level award
`;
}

const MEMBERS = Array.from({ length: 40 }, (_, at) => String(119_000_000_000_000_001n + BigInt(at)));

/** A desk with its realm and a browser, shared by all tests of a file. */
export function deskInBrowser(rules: readonly string[], realms: readonly string[] = [], meadow: Meadow = {}) {
  const both: { world?: DeskWorld; browser?: Browser } = {};
  beforeAll(async () => {
    const [world, browser] = await Promise.all([startDeskWorld(rules, realms, meadow), launchBrowser()]);
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
