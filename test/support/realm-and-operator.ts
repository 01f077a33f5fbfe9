import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MemberSeed } from '../../src/realm/server/members.js';
import {
  almoner,
  type Ran,
  type RealmProcess,
  type Started,
  startAlmoner,
  startRealmProcess,
} from './almoner.js';
import { type AppliedChange, type AuditedAdmin, auditedAdmin } from './realm-books.js';
import { startRedis, type TestRedis } from './redis-server.js';
import { endServerOf } from './store-program.js';

/**
 * A realm service as a process of its own, with a Redis of its own that no test ever rolls back, and an
 * operator beside it with a data folder and a working folder: what an almoner meets in the world.
 */
export type RealmAndOperator = {
  readonly realm: RealmProcess;
  readonly admin: AuditedAdmin;
  readonly redis: TestRedis;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  run(...args: string[]): Promise<Ran>;
  /** Starts a command and leaves it running. */
  start(args: readonly string[], env?: NodeJS.ProcessEnv): Started;
  file(name: string, text: string): Promise<string>;
  applied(): Promise<AppliedChange[]>;
  reopenRealm(args: readonly string[]): Promise<void>;
  end(): Promise<void>;
};

export const REALM_ID = 'town';

export async function startRealmAndOperator(
  options: {
    members?: readonly MemberSeed[];
    serve?: readonly string[];
    env?: NodeJS.ProcessEnv;
    /** For a realm that goes away and comes back under the same address. */
    port?: number;
  } = {},
): Promise<RealmAndOperator> {
  const redis = await startRedis();
  const folder = await mkdtemp(join(tmpdir(), 'almoner-town-'));
  const admin = auditedAdmin(redis.client());
  const serve = (args: readonly string[]) =>
    startRealmProcess(
      ['--port', String(options.port ?? 0), '--realm-id', REALM_ID, ...args],
      { REDIS_URL: redis.url, ALMONER_API_KEY: KEY },
      folder,
    );
  let realm = await serve(options.serve ?? []);
  await admin.putMembers(REALM_ID, options.members ?? []);
  const started = new Set<Started>();
  const env = (): NodeJS.ProcessEnv => ({
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: REALM_ID,
    ALMONER_API_KEY: KEY,
    ALMONER_RATE: 'none',
    ALMONER_CERTAINTY: 'idempotent',
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
    ...options.env,
  });

  return {
    get realm() {
      return realm;
    },
    admin,
    redis,
    folder,
    get env() {
      return env();
    },
    run: (...args) => almoner(args, { cwd: folder, env: env() }),
    start(args, more = {}) {
      const one = startAlmoner(args, { cwd: folder, env: { ...env(), ...more } });
      started.add(one);
      return one;
    },
    async file(name, text) {
      const path = join(folder, name);
      await writeFile(path, text);
      return path;
    },
    applied: () => admin.appliedChanges(REALM_ID),
    async reopenRealm(args) {
      await realm.end('SIGTERM');
      realm = await serve(args);
    },
    async end() {
      for (const one of started) await one.kill();
      await realm.end('SIGKILL');
      await endServerOf(join(folder, 'data'));
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const KEY = 'town-key-0123456789abcdef0123456789abcdef';
