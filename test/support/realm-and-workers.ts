import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Certainty } from '../../src/core/profile.js';
import { type BatchRef, findBatch } from '../../src/ledger/read/batches.js';
import { openLedger, type RealmLedger } from '../../src/ledger/realm-ledger.js';
import { ScriptClient } from '../../src/ledger/script-client.js';
import { parseFaults } from '../../src/realm/server/faults.js';
import type { MemberSeed } from '../../src/realm/server/members.js';
import { almoner, type Ran, type Started, startAlmoner, startRealmProcess } from './almoner.js';
import { type AppliedChange, type AuditedAdmin, auditedAdmin } from './realm-books.js';
import { startRealm } from './realm-service.js';
import { freePort, startRedis, type TestRedis } from './redis-server.js';
import { TcpProxy } from './tcp-proxy.js';
import { until } from './until.js';

/**
 * Everything that a payout meets, as real processes on this machine: a ledger's Redis, a realm service with
 * a Redis of its own that is never rolled back, workers, and a bad network before both.
 */
export type RealmAndWorkersOptions = {
  readonly certainty: Certainty;
  readonly members: readonly MemberSeed[];
  /** As `realm serve --fault` takes them. */
  readonly realmFaults?: readonly string[];
  /** The realm is a process of its own, which can be killed. */
  readonly mortalRealm?: boolean;
  readonly rate?: string;
  /** What a request may take in all; 2 s unless said otherwise. */
  readonly totalMs?: number;
  /** A realm's setting of that name, as YAML. */
  readonly attempts?: string;
  /** Extra lines of a realm's settings, as YAML. */
  readonly realm?: string;
  readonly limits?: Readonly<Record<string, number>>;
};

export const REALM_ID = 'arena';
const KEY = 'arena-key-0123456789abcdef0123456789abcdef';

const timeouts = (totalMs: number) => ({
  connectMs: 1_000,
  tlsMs: 1_000,
  responseMs: totalMs - 500,
  totalMs,
});

/** Outside `idempotent` the realm must not honour keys: a request sent twice has to show. */
function hideKeys(chunk: Buffer): Buffer {
  const at = chunk.indexOf('idempotency-key:');
  if (at === -1) return chunk;
  const copy = Buffer.from(chunk);
  copy.write('x-hidden-the-key:'.slice(0, 'idempotency-key'.length), at);
  return copy;
}

export class RealmAndWorkers {
  private endRealm: () => Promise<unknown> = () => Promise.resolve();
  private readonly started = new Set<Started>();
  private readonly admin: AuditedAdmin;

  private constructor(
    private readonly options: RealmAndWorkersOptions,
    readonly folder: string,
    readonly store: TestRedis,
    readonly realmRedis: TestRedis,
    readonly ledgerNet: TcpProxy,
    readonly realmNet: TcpProxy,
    private readonly realmPort: number,
  ) {
    this.admin = auditedAdmin(realmRedis.client());
  }

  static async open(options: RealmAndWorkersOptions): Promise<RealmAndWorkers> {
    const folder = await mkdtemp(join(tmpdir(), 'almoner-arena-'));
    const [store, realmRedis] = await Promise.all([startRedis(), startRedis()]);
    const realmPort = await freePort();
    const ledgerNet = await TcpProxy.open(store.port);
    const rewrite = options.certainty === 'idempotent' ? undefined : hideKeys;
    const realmNet = await TcpProxy.open(realmPort, rewrite);
    const world = new RealmAndWorkers(options, folder, store, realmRedis, ledgerNet, realmNet, realmPort);
    await world.admin.putMembers(REALM_ID, options.members);
    await world.startRealm();
    await writeFile(
      join(folder, 'almoner.config.yaml'),
      `limits: ${JSON.stringify({ lockMs: 2000, stalledMs: 60_000, mergePatienceMs: 60_000, ...options.limits })}
realms:
  ${REALM_ID}:
    baseUrl: http://127.0.0.1:${realmNet.port}
    realmId: ${REALM_ID}
    keyEnv: ALMONER_API_KEY
    certainty: ${options.certainty}
    rate: ${options.rate ?? 'none'}
    settleMs: 1500
    timeouts: ${JSON.stringify(timeouts(options.totalMs ?? 2_000))}
    attempts: ${options.attempts ?? '{max: 100, backoffMs: 50, backoffMaxMs: 500}'}
${options.realm ?? ''}`,
    );
    return world;
  }

  env(data = 'data'): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: this.folder,
      REDIS_URL: `redis://127.0.0.1:${this.ledgerNet.port}`,
      ALMONER_API_KEY: KEY,
      ALMONER_DATA: join(this.folder, data),
      ALMONER_REPORTS: join(this.folder, 'reports'),
    };
  }

  start(args: readonly string[], more: NodeJS.ProcessEnv = {}, nodeArgs: readonly string[] = []): Started {
    const one = startAlmoner(args, { cwd: this.folder, env: { ...this.env(), ...more }, nodeArgs });
    this.started.add(one);
    return one;
  }

  run(...args: string[]): Promise<Ran> {
    return almoner(args, { cwd: this.folder, env: this.env() });
  }

  async file(name: string, text: string): Promise<void> {
    await writeFile(join(this.folder, name), text);
  }

  /** A file, handed to the workers. */
  async imported(name: string, text: string): Promise<BatchRef> {
    await this.file(name, text);
    const { status, stdout, stderr } = await this.run('import', name, '--yes', '--json');
    if (status !== 0) throw new Error(`import of ${name} ended with ${status}: ${stderr}`);
    return findBatch(this.ledger().scripts, String(JSON.parse(stdout).batch));
  }

  /** The ledger as an onlooker sees it, past the bad network. */
  ledger(): RealmLedger {
    const scripts = new ScriptClient(this.store.client(), 30_000, () => {});
    const baseUrl = `http://127.0.0.1:${this.realmNet.port}`;
    return openLedger(scripts, { name: REALM_ID, baseUrl, realmId: REALM_ID, rehearsal: false });
  }

  applied(): Promise<AppliedChange[]> {
    return this.admin.appliedChanges(REALM_ID);
  }

  appliedCount(): Promise<number> {
    return this.admin.appliedCount(REALM_ID);
  }

  /** How much was applied once nothing has been for a while: what was under way at a kill arrives after it. */
  async appliedWhenQuiet(quietMs = 600): Promise<number> {
    let seen = { count: -1, sinceMs: 0 };
    return until('payments to stop', async () => {
      const count = await this.appliedCount();
      if (count !== seen.count) seen = { count, sinceMs: performance.now() };
      return performance.now() - seen.sinceMs > quietMs ? count : undefined;
    });
  }

  async startRealm(): Promise<void> {
    const { realmFaults = [], mortalRealm = false } = this.options;
    if (mortalRealm) {
      const faults = realmFaults.flatMap((fault) => ['--fault', fault]);
      const realm = await startRealmProcess(
        ['--port', String(this.realmPort), '--realm-id', REALM_ID, ...faults],
        { REDIS_URL: this.realmRedis.url, ALMONER_API_KEY: KEY },
        this.folder,
      );
      this.endRealm = () => realm.end('SIGKILL');
    } else {
      await this.admin.adoptKey(REALM_ID, KEY);
      const faults = parseFaults(realmFaults);
      const realm = await startRealm(this.realmRedis, { realmId: REALM_ID, port: this.realmPort, faults });
      this.endRealm = () => realm.close();
    }
  }

  async killRealm(): Promise<void> {
    if (this.options.mortalRealm !== true) throw new Error('only a mortal realm can be killed');
    await this.endRealm();
  }

  /** The ledger's append-only files as they are on disk now. */
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

  async close(): Promise<void> {
    for (const one of this.started) await one.kill();
    await this.endRealm();
    await Promise.all([this.ledgerNet.close(), this.realmNet.close()]);
    await Promise.all([this.store.stop(), this.realmRedis.stop()]);
    await rm(this.folder, { recursive: true, force: true });
  }
}
