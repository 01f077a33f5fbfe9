import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FaultPlan } from '../../src/realm/server/faults.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig } from '../../src/runtime/config/config.js';
import { createLogger } from '../../src/runtime/logger.js';
import { almoner, type Ran, type Started, startAlmoner } from './almoner.js';
import { startRealm, type TestRealm } from './realm-service.js';
import { startRedis, type TestRedis } from './redis-server.js';

/**
 * A realm service that writes down every request, and an operator with a jobs folder and a Redis of the
 * operator's own, on which rules are run by the real binary or inside the test.
 */
export type RulesWorld = {
  readonly folder: string;
  readonly store: TestRedis;
  readonly realm: TestRealm;
  readonly env: NodeJS.ProcessEnv;
  /** `GET /web3/members/101` of every answered request, oldest first. */
  readonly requests: string[];
  file(name: string, text: string): Promise<string>;
  /** A `rules` command inside this process, to its end. */
  run(...args: string[]): Promise<Ran>;
  /** Starts the real binary and leaves it running. */
  start(...args: string[]): Started;
  /** The program inside this process, on the same store and realm. */
  app(): Promise<App>;
  end(): Promise<void>;
};

export const REALM_ID = 'guild';

export async function startRulesWorld(
  options: { members?: readonly MemberSeed[]; rate?: string; faults?: FaultPlan } = {},
): Promise<RulesWorld> {
  const [store, own] = [await startRedis(), await startRedis(['--appendonly', 'no'])];
  const folder = await mkdtemp(join(tmpdir(), 'almoner-rules-'));
  const requests: string[] = [];
  const logger = createLogger({ level: 'debug', destination: { write: (line) => note(line, requests) } });
  const realm = await startRealm(own, {
    realmId: REALM_ID,
    logger,
    ...(options.faults === undefined ? {} : { faults: options.faults }),
  });
  await realm.admin.putMembers(REALM_ID, options.members ?? []);
  const env = {
    REDIS_URL: store.url,
    ALMONER_REALM_URL: realm.url,
    ALMONER_REALM_ID: REALM_ID,
    ALMONER_API_KEY: realm.key,
    ALMONER_RATE: options.rate ?? 'none',
    ALMONER_CERTAINTY: 'idempotent',
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
    ALMONER_OPERATOR: 'ada',
  };
  const started = new Set<Started>();
  const apps: App[] = [];
  return {
    folder,
    store,
    realm,
    env,
    requests,
    async file(name, text) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      return path;
    },
    run: (...args) => almoner(['rules', ...args], { env, cwd: folder }),
    start(...args) {
      const one = startAlmoner(args, { cwd: folder, env });
      started.add(one);
      return one;
    },
    async app() {
      const config = await loadConfig({ env, cwd: folder, flags: {} });
      const quiet = createLogger({ level: 'silent' });
      const app = await App.open({ config, logger: quiet, env, clientName: 'rules', patienceMs: 10_000 });
      apps.push(app);
      return app;
    },
    async end() {
      for (const one of started) await one.kill();
      for (const app of apps) await app.close();
      await realm.close();
      await Promise.all([store.stop(), own.stop()]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function note(line: string, requests: string[]): void {
  const match = /"method":"(\w+)","url":"\/api\/v4\/realms\/[^/]+([^"]*)"/.exec(line);
  if (match !== null) requests.push(`${match[1]} ${match[2]}`);
}
