import { cp, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import type { Certainty } from '../../../src/core/profile.js';
import { findBatch } from '../../../src/ledger/read/batches.js';
import { type BatchRef, openLedger, type RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../../src/ledger/script-client.js';
import { type FaultPlan, parseFaults } from '../../../src/realm/server/faults.js';
import type { MemberSeed } from '../../../src/realm/server/members.js';
import { App } from '../../../src/runtime/app.js';
import { loadConfig } from '../../../src/runtime/config/config.js';
import { createLogger } from '../../../src/runtime/logger.js';
import { freePort, startRedis, type TestRedis } from '../redis-server.js';
import { endServerOf } from '../store-program.js';
import { until } from '../until.js';
import { almoner, type Ran, type Started, startAlmoner, startRealmProcess } from './almoner.js';
import { type AppliedChange, type AuditedAdmin, auditedAdmin } from './realm-records.js';
import { startRealm, type TestRealm } from './realm-service.js';
import { TcpProxy } from './tcp-proxy.js';
import { startWorkerBeside, type WorkerBeside } from './worker-beside.js';

export const REALM_ID = 'town';
const KEY = 'town-key-0123456789abcdef0123456789abcdef';

type RealmOptions = {
  readonly members?: readonly MemberSeed[];
  /** Faults as `realm serve --fault` takes them, or already parsed. */
  readonly faults?: FaultPlan | readonly string[];
  readonly certainty?: Certainty;
  readonly rate?: string;
  /** Further settings of the realm in almoner.config.yaml. */
  readonly profile?: Readonly<Record<string, unknown>>;
};

export type ProgramOptions = RealmOptions & {
  /** The realm's name and id. */
  readonly name?: string;
  /** `embedded`: no realm is configured, so commands rehearse on the program's own realm. */
  readonly realm?: 'served' | 'embedded';
  /** Further realms by name. A realm with `sameAs` is the main realm under another address. */
  readonly realms?: Readonly<Record<string, RealmOptions & { readonly sameAs?: 'main' }>>;
  /**
   * `embedded`: the Redis that commands start and end in the data folder, for tests of its files and its process.
   * `own`: a Redis apart from the realm's, so that a test can kill it or roll it back.
   */
  readonly store?: 'shared' | 'own' | 'embedded';
  /** Puts a proxy before the store and one before the realm; each can cut, slow down and silence connections. */
  readonly network?: boolean;
  /** Runs the realm as a separate process, which a test can kill. */
  readonly realmProcess?: boolean;
  /** The limits in almoner.config.yaml. The file is written if these, `profile` or `realms` are given. */
  readonly limits?: Readonly<Record<string, number>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
};

type AppOptions = {
  readonly env?: NodeJS.ProcessEnv;
  readonly logger?: Logger | undefined;
  readonly clientName?: string;
  /** How long calls wait for an unresponsive store. */
  readonly patienceMs?: number;
};

/**
 * The program and its surroundings: a real realm service with members, a store, and an operator with a data folder and
 * a working folder. The operator runs commands (inside the test's process or as processes), workers, and parts of the
 * program.
 */
export class Program {
  /** Every request that the realm answered, such as `GET /web3/members/101`, oldest first. */
  readonly requests: string[] = [];
  readonly admin: AuditedAdmin;
  env: NodeJS.ProcessEnv = {};
  readonly name: string;
  private service: TestRealm | undefined;
  private readonly furtherKeys: Record<string, string> = {};
  private readonly started = new Set<Started>();
  private readonly closers: (() => Promise<unknown>)[] = [];

  private constructor(
    private readonly options: ProgramOptions,
    readonly folder: string,
    readonly store: TestRedis,
    readonly realmStore: TestRedis,
    private readonly realmPort: number,
    private readonly proxies: { readonly store: TcpProxy; readonly realm: TcpProxy } | null,
  ) {
    this.name = options.name ?? REALM_ID;
    this.admin = auditedAdmin(realmStore.client());
  }

  static async start(options: ProgramOptions = {}): Promise<Program> {
    const folder = await mkdtemp(join(tmpdir(), 'town-'));
    const realmStore = await startRedis();
    const store = options.store === 'own' || options.network === true ? await startRedis() : realmStore;
    const realmPort = await freePort();
    // Unless the realm is declared to honour keys, the keys are hidden from it, so that a request sent twice shows.
    const rewrite = certaintyOf(options) === 'idempotent' ? undefined : hideKeys;
    const proxies =
      options.network === true
        ? { store: await TcpProxy.open(store.port), realm: await TcpProxy.open(realmPort, rewrite) }
        : null;
    const program = new Program(options, folder, store, realmStore, realmPort, proxies);
    try {
      if (options.realm !== 'embedded') {
        await program.admin.putMembers(program.name, options.members ?? []);
        await program.startRealm();
      }
      await program.configure();
    } catch (error) {
      await program.end();
      throw error;
    }
    return program;
  }

  private async configure(): Promise<void> {
    const { realm, limits, profile, config, realms, store, env } = this.options;
    const port = this.proxies?.store.port ?? this.store.port;
    const common = {
      ...(store === 'embedded' ? {} : { REDIS_URL: `redis://127.0.0.1:${port}` }),
      ALMONER_OPERATOR: 'ada',
      ALMONER_DATA: join(this.folder, 'data'),
      ALMONER_STATE: join(this.folder, 'state'),
      ALMONER_REPORTS: join(this.folder, 'reports'),
      ALMONER_JOBS: join(this.folder, 'jobs'),
    };
    const terms = { certainty: certaintyOf(this.options), rate: this.options.rate ?? 'none' };
    if (realm === 'embedded') {
      if (config !== undefined) await this.writeConfig(config);
      this.env = { ...common, ...env };
      return;
    }
    const main = { baseUrl: this.url, realmId: this.name, keyEnv: 'ALMONER_API_KEY', ...terms, ...profile };
    const further = await this.startFurtherRealms();
    if ([limits, profile, config, realms].some((part) => part !== undefined))
      await this.writeConfig({
        ...config,
        ...(limits && { limits }),
        realms: { [this.name]: main, ...further },
      });
    // With several realms, or with a proxy's address, only the file holds the configuration.
    const fromEnv =
      realms !== undefined || this.proxies !== null
        ? {}
        : {
            ALMONER_REALM_URL: this.url,
            ALMONER_REALM_ID: this.name,
            ALMONER_RATE: terms.rate,
            ALMONER_CERTAINTY: terms.certainty,
          };
    this.env = { ...common, ...fromEnv, ALMONER_API_KEY: KEY, ...this.furtherKeys, ...env };
  }

  /** Writes JSON, which is valid YAML. */
  private writeConfig(config: object): Promise<string> {
    return this.file('almoner.config.yaml', JSON.stringify(config));
  }

  /** Starts the further realms on the main realm's store, each with its own API key; returns their profiles. */
  private async startFurtherRealms(): Promise<Record<string, object>> {
    const profiles: Record<string, object> = {};
    for (const [name, options] of Object.entries(this.options.realms ?? {})) {
      const terms = { certainty: certaintyOf(options), rate: options.rate ?? 'none', ...options.profile };
      if (options.sameAs === 'main') {
        const proxy = await TcpProxy.open(this.realmPort);
        this.closers.push(() => proxy.close());
        const baseUrl = `http://127.0.0.1:${proxy.port}`;
        this.furtherKeys[`${name.toUpperCase()}_KEY`] = KEY;
        profiles[name] = { baseUrl, realmId: this.name, keyEnv: `${name.toUpperCase()}_KEY`, ...terms };
        continue;
      }
      await this.admin.putMembers(name, options.members ?? []);
      const faults = planOf(options.faults ?? []);
      const realm = await startRealm(this.realmStore, { realmId: name, key: `${name}-${KEY}`, faults });
      this.closers.push(() => realm.close());
      this.furtherKeys[`${name.toUpperCase()}_KEY`] = realm.key;
      profiles[name] = { baseUrl: realm.url, realmId: name, keyEnv: `${name.toUpperCase()}_KEY`, ...terms };
    }
    return profiles;
  }

  /** The address at which the operator reaches the realm. */
  get url(): string {
    return `http://127.0.0.1:${this.proxies?.realm.port ?? this.realmPort}`;
  }

  /** The same operator with other data and state folders, as on another machine. */
  envOf(data: string): NodeJS.ProcessEnv {
    const [folder, state] = [join(this.folder, data), join(this.folder, `${data}-state`)];
    return { ...this.env, ALMONER_DATA: folder, ALMONER_STATE: state };
  }

  get storeNet(): TcpProxy {
    return needed(this.proxies?.store, 'network');
  }

  get realmNet(): TcpProxy {
    return needed(this.proxies?.realm, 'network');
  }

  /** The realm service inside this process. */
  get realm(): TestRealm {
    return needed(this.service, 'a realm inside this process');
  }

  /** Runs a command inside this process and waits for its end. */
  run(...args: string[]): Promise<Ran> {
    return almoner(args, { cwd: this.folder, env: this.env });
  }

  /** Starts a command as a process and leaves it running; the end of the world kills it. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}, nodeArgs: readonly string[] = []): Started {
    const one = startAlmoner(args, { cwd: this.folder, env: { ...this.env, ...env }, nodeArgs });
    this.started.add(one);
    return one;
  }

  /** Writes a file and renames it into place, so that a scheduler reads the old text or the new one, never a part. */
  async file(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.new`, text);
    await rename(`${path}.new`, path);
    return path;
  }

  /** Imports a file and hands it to the workers. */
  async imported(name: string, text: string): Promise<BatchRef> {
    await this.file(name, text);
    const { status, stdout, stderr } = await this.run('import', name, '--yes', '--json');
    if (status !== 0) throw new Error(`import of ${name} ended with ${status}: ${stderr}`);
    return findBatch(this.ledger().scripts, String(JSON.parse(stdout).batch));
  }

  /** The ledger over a connection of its own, past the proxies. */
  ledger(): RealmLedger {
    const scripts = new ScriptClient(this.store.client(), 30_000, () => {});
    return openLedger(scripts, { name: this.name, baseUrl: this.url, realmId: this.name, rehearsal: false });
  }

  /** Opens the parts of the program inside this process, until the end of the world. */
  async app(options: AppOptions = {}): Promise<App> {
    const env = { ...this.env, ...options.env };
    const config = await loadConfig({ env, cwd: this.folder, flags: {} });
    const { logger = createLogger({ level: 'silent' }), clientName = 'test', patienceMs = 10_000 } = options;
    const app = await App.open({ config, logger, env, clientName, patienceMs });
    this.closers.push(() => app.close());
    return app;
  }

  /** Runs `almoner worker` inside this process. It is stopped like SIGTERM: requests under way finish. */
  async worker(
    options: { readonly logger?: Logger; readonly reportEveryMs?: number } = {},
  ): Promise<WorkerBeside> {
    const worker = await startWorkerBeside({ env: this.env, cwd: this.folder, ...options });
    this.closers.push(() => worker.stop());
    return worker;
  }

  applied(): Promise<AppliedChange[]> {
    return this.admin.appliedChanges(this.name);
  }

  appliedCount(): Promise<number> {
    return this.admin.appliedCount(this.name);
  }

  /** The number of applied changes after a quiet spell: requests under way at a kill arrive after it. */
  async appliedWhenQuiet(quietMs = 600): Promise<number> {
    let seen = { count: -1, sinceMs: 0 };
    return until('payments to stop', async () => {
      const count = await this.appliedCount();
      if (count !== seen.count) seen = { count, sinceMs: performance.now() };
      return performance.now() - seen.sinceMs > quietMs ? count : undefined;
    });
  }

  async startRealm(faults = this.options.faults): Promise<void> {
    if (this.options.realmProcess === true) return this.startRealmProcess(faults);
    const destination = { write: (line: string) => noteRequest(line, this.requests) };
    this.service = await startRealm(this.realmStore, {
      realmId: this.name,
      port: this.realmPort,
      key: KEY,
      logger: createLogger({ level: 'debug', destination }),
      ...(faults === undefined ? {} : { faults: planOf(faults) }),
    });
    this.stopRealm = () => this.realm.close();
  }

  private async startRealmProcess(faults: ProgramOptions['faults'] = []): Promise<void> {
    if (!isWords(faults)) throw new Error('a realm of its own process takes its faults as words');
    const realm = await startRealmProcess(
      [
        '--port',
        String(this.realmPort),
        '--realm-id',
        REALM_ID,
        ...faults.flatMap((one) => ['--fault', one]),
      ],
      { REDIS_URL: this.realmStore.url, ALMONER_API_KEY: KEY },
      this.folder,
    );
    this.stopRealm = () => realm.end('SIGKILL');
  }

  /** Closes the realm inside this process, or kills its process. */
  stopRealm: () => Promise<unknown> = () => Promise.resolve();

  /** Restarts the realm at the same address, without faults. */
  async reopenRealm(): Promise<void> {
    await this.stopRealm();
    await this.startRealm([]);
  }

  /** Copies the store's append-only files; the returned function restores them. */
  async photograph(name: string): Promise<() => Promise<void>> {
    const kept = join(this.folder, `photograph-${name}`);
    await rm(kept, { recursive: true, force: true });
    await cp(join(this.store.folder, 'appendonlydir'), kept, { recursive: true });
    return async () => {
      await this.store.kill();
      await rm(join(this.store.folder, 'appendonlydir'), { recursive: true });
      await cp(kept, join(this.store.folder, 'appendonlydir'), { recursive: true });
      await this.store.restart();
    };
  }

  /** Ends everything in reverse order of its start. */
  async end(): Promise<void> {
    for (const one of this.started) await one.kill();
    for (const close of this.closers.splice(0).reverse()) await close();
    await this.stopRealm();
    await this.proxies?.store.close();
    await this.proxies?.realm.close();
    await endServerOf(join(this.folder, 'data'));
    await this.store.stop();
    if (this.realmStore !== this.store) await this.realmStore.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function certaintyOf({ certainty = 'idempotent' }: ProgramOptions): Certainty {
  return certainty;
}

function isWords(faults: FaultPlan | readonly string[]): faults is readonly string[] {
  return Array.isArray(faults);
}

function planOf(faults: FaultPlan | readonly string[]): FaultPlan {
  return isWords(faults) ? parseFaults(faults) : faults;
}

function needed<T>(part: T | undefined, what: string): T {
  if (part === undefined) throw new Error(`this program was started without ${what}`);
  return part;
}

function hideKeys(chunk: Buffer): Buffer {
  const at = chunk.indexOf('idempotency-key:');
  if (at === -1) return chunk;
  const copy = Buffer.from(chunk);
  copy.write('x-hidden-the-key:'.slice(0, 'idempotency-key'.length), at);
  return copy;
}

function noteRequest(line: string, requests: string[]): void {
  const match = /"method":"(\w+)","url":"\/api\/v4\/realms\/[^/]+([^"]*)"/.exec(line);
  if (match !== null) requests.push(`${match[1]} ${match[2]}`);
}

/** Settings for kills and outages: short time-outs, many quick attempts, and proxies before store and realm. */
export function onBadNetwork(options: ProgramOptions & { readonly totalMs?: number }): ProgramOptions {
  const { totalMs = 2_000, limits, profile, ...rest } = options;
  return {
    network: true,
    ...rest,
    limits: { lockMs: 2_000, stalledMs: 60_000, mergePatienceMs: 60_000, ...limits },
    profile: {
      settleMs: 1_500,
      timeouts: { connectMs: 1_000, tlsMs: 1_000, responseMs: totalMs - 500, totalMs },
      attempts: { max: 100, backoffMs: 50, backoffMaxMs: 500 },
      ...profile,
    },
  };
}
