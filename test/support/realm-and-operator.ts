import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FaultPlan } from '../../src/realm/server/faults.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { almoner, type Ran, type Started, startAlmoner } from './almoner.js';
import { type AppliedChange, type AuditedAdmin, auditedAdmin } from './realm-books.js';
import { startRealm, type TestRealm } from './realm-service.js';
import { startRedis } from './redis-server.js';
import { endServerOf } from './store-program.js';

/**
 * A realm service that no test kills, and an operator beside it with a data folder and a working folder: what an
 * almoner meets in the world.
 */
export type RealmAndOperator = {
  readonly realm: TestRealm;
  readonly admin: AuditedAdmin;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  run(...args: string[]): Promise<Ran>;
  /** Starts a command and leaves it running. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): Started;
  file(name: string, text: string): Promise<string>;
  applied(): Promise<AppliedChange[]>;
  appliedCount(): Promise<number>;
  /** The realm comes back where it was, without faults. */
  reopenRealm(): Promise<void>;
  end(): Promise<void>;
};

export const REALM_ID = 'town';

export async function startRealmAndOperator(
  options: {
    members?: readonly MemberSeed[];
    faults?: FaultPlan;
    /**
     * The operator's books are in the Redis that commands start and end in the data folder, for tests of its files
     * and its process; otherwise in the realm's, which spares each command that start.
     */
    embedded?: boolean;
    env?: NodeJS.ProcessEnv;
    /** Of almoner.config.yaml, which is written where one of the two is given; `profile`: more of the realm's settings. */
    limits?: Readonly<Record<string, number>>;
    profile?: Readonly<Record<string, unknown>>;
  } = {},
): Promise<RealmAndOperator> {
  const redis = await startRedis();
  const folder = await mkdtemp(join(tmpdir(), 'almoner-town-'));
  const admin = auditedAdmin(redis.client());
  let realm = await startRealm(redis, { realmId: REALM_ID, faults: options.faults });
  await admin.putMembers(REALM_ID, options.members ?? []);
  const file = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };
  const { limits = {}, profile = {} } = options;
  if (Object.keys({ ...limits, ...profile }).length > 0) {
    const town = { baseUrl: realm.url, realmId: REALM_ID, keyEnv: 'ALMONER_API_KEY', ...profile };
    await file('almoner.config.yaml', JSON.stringify({ limits, realms: { town } }));
  }
  const started = new Set<Started>();
  const env: NodeJS.ProcessEnv = {
    ...(options.embedded === true ? {} : { REDIS_URL: redis.url }),
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: REALM_ID,
    ALMONER_API_KEY: realm.key,
    ALMONER_RATE: 'none',
    ALMONER_CERTAINTY: 'idempotent',
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
    ...options.env,
  };

  return {
    get realm() {
      return realm;
    },
    admin,
    folder,
    env,
    run: (...args) => almoner(args, { cwd: folder, env }),
    start(args, more = {}) {
      const one = startAlmoner(args, { cwd: folder, env: { ...env, ...more } });
      started.add(one);
      return one;
    },
    file,
    applied: () => admin.appliedChanges(REALM_ID),
    appliedCount: () => admin.appliedCount(REALM_ID),
    async reopenRealm() {
      await realm.close();
      realm = await startRealm(redis, { realmId: REALM_ID, port: Number(new URL(realm.url).port) });
    },
    async end() {
      for (const one of started) await one.kill();
      await realm.close();
      await endServerOf(join(folder, 'data'));
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
