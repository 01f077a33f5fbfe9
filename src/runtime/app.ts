import { join } from 'node:path';
import type { AlmonerError } from '../core/errors/error.js';
import { LOCAL_NAME, type Person } from '../core/people.js';
import type { RealmProfile } from '../core/profile.js';
import { openLedger, type RealmLedger, recovery, ScriptClient, storeFacts } from '../ledger/index.js';
import type { RealmClient } from '../realm/client/client.js';
import type { EmbeddedRealm } from '../realm/embedded.js';
import type { FaultPlan } from '../realm/server/faults.js';
import type { Config } from './config/config.js';
import type { SecretSource } from './config/model.js';
import { readKey } from './config/secrets.js';
import { type Logger, registerSecret } from './logger.js';
import { openStore, type Store } from './redis/store.js';

/** The resources of one opened store, shared by all views of it. */
type Opened = {
  readonly config: Config;
  readonly logger: Logger;
  readonly env: NodeJS.ProcessEnv;
  readonly store: Store;
  readonly realms: OpenRealm[];
  /**
   * Realms by identity. A desk requests the same realm again and again; without this, each request would open a
   * client and, if embedded, a service.
   */
  readonly opening: Map<string, Promise<OpenRealm>>;
  readonly openings: Map<string, recovery.Opening>;
  readonly sessions: Set<recovery.Session>;
  readonly failure: AbortController;
};

/** The person and the patience of the calls. */
type View = {
  readonly scripts: ScriptClient;
  /** The acting person, if known. On the command line, the token in the environment identifies the person. */
  readonly person: Person | null;
  /** The name under which changes are recorded; null: the configuration's operator. */
  readonly operator: string | null;
};

/**
 * The composition root. It opens the store, the ledgers and the realms of one command, and closes them in reverse
 * order. No other code creates connections.
 */
export class App {
  readonly logger: Logger;
  readonly store: Store;
  readonly scripts: ScriptClient;
  readonly person: Person | null;
  private readonly openings: Map<string, recovery.Opening>;

  private constructor(
    private readonly opened: Opened,
    private readonly view: View,
  ) {
    this.logger = opened.logger;
    this.store = opened.store;
    this.openings = opened.openings;
    this.scripts = view.scripts;
    this.person = view.person;
  }

  get config(): Config {
    const { config } = this.opened;
    const { operator } = this.view;
    return operator === null ? config : { ...config, operator, token: null };
  }

  static async open(options: {
    config: Config;
    logger: Logger;
    env: NodeJS.ProcessEnv;
    clientName: string;
    /** How long calls wait for a store that does not answer. A worker waits forever. */
    patienceMs: number;
  }): Promise<App> {
    const { config, logger, env, clientName } = options;
    const { redisUrl, dataFolder, stateFolder, limits } = config;
    const answerMs = limits.storeAnswerMs;
    const store = await openStore({ redisUrl, dataFolder, clientName, logger, answerMs });
    const scripts = new ScriptClient(
      store.ledger,
      options.patienceMs,
      throttled((message) => logger.warn({ message }, 'the store does not answer')),
      {
        archiveFolder: archiveFolder(dataFolder),
        here: new recovery.Here(dataFolder, undefined, stateFolder, store.embedded),
      },
    );
    await storeFacts.refuseOtherFormat(scripts).catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
    const opened = {
      config,
      logger,
      env,
      store,
      realms: [],
      opening: new Map(),
      openings: new Map(),
      sessions: new Set<recovery.Session>(),
      failure: new AbortController(),
    };
    return new App(opened, { scripts, person: null, operator: null });
  }

  /** The same connections in another person's name. The desk acts in the name of the signed-in person. */
  as(person: Person): App {
    const named = person.name === LOCAL_NAME ? null : person;
    return new App(this.opened, { ...this.view, person: named, operator: person.name });
  }

  /** The same connections with another limit for a store that does not answer. */
  patient(patienceMs: number, answerMs?: number): App {
    return new App(this.opened, { ...this.view, scripts: this.scripts.patient(patienceMs, answerMs) });
  }

  ledger(profile: RealmProfile): RealmLedger {
    const { name, baseUrl, realmId, rehearsal, approval, afterRollback } = profile;
    return openLedger(
      this.scripts,
      { name, baseUrl, realmId, rehearsal },
      { afterRollback, ...(rehearsal ? {} : { requirement: approval }) },
    );
  }

  /** What this process knows about a recovered ledger. All views share it. */
  openingOf({ id }: RealmLedger): recovery.Opening {
    const opening = this.openings.get(id) ?? new recovery.Opening();
    this.openings.set(id, opening);
    return opening;
  }

  /** A realm's profile and ledger, for callers that send the realm no request. */
  realmContext(profile: RealmProfile): RealmContext {
    return { profile, ledger: this.ledger(profile) };
  }

  /** Opens a realm for calls. The embedded realm is started in this process. */
  realm(profile: RealmProfile, faults?: FaultPlan): Promise<OpenRealm> {
    if (faults !== undefined) return this.openRealm(profile, faults);
    const key = `${profile.baseUrl}\n${profile.realmId}`;
    const known = this.opened.opening.get(key);
    if (known !== undefined) return known;
    const opening = this.openRealm(profile, undefined);
    this.opened.opening.set(key, opening);
    opening.catch(() => this.opened.opening.delete(key));
    return opening;
  }

  private async openRealm(profile: RealmProfile, faults: FaultPlan | undefined): Promise<OpenRealm> {
    const embedded = profile.key.from === 'embedded' ? await this.embedded(profile, faults) : null;
    // Imported here: most commands call no realm, and got takes longer to load than they take to answer.
    const { createRealmClient } = await import('../realm/client/client.js');
    const client = createRealmClient({
      profile,
      baseUrl: embedded?.baseUrl ?? profile.baseUrl,
      readKey: () => this.key(profile, embedded),
    });
    const realm = { ...this.realmContext(profile), client, embedded };
    this.opened.realms.push(realm);
    return realm;
  }

  /** Aborted, with the error, when this process must stop sending: its journal failed, or it stalled. */
  get failed(): AbortSignal {
    return this.opened.failure.signal;
  }

  fail(error: AlmonerError): void {
    if (this.opened.failure.signal.aborted) return;
    this.logger.error({ code: error.code }, error.message);
    this.opened.failure.abort(error);
  }

  async session(kind: string): Promise<recovery.Session> {
    const session = await recovery.Session.open(kind, this.config.dataFolder, {
      onFailure: (error) => this.fail(error),
      limits: journalLimits(this.config.limits.journalMegabytes),
      here: this.scripts.here,
      ephemeral: this.config.ephemeral,
    });
    this.opened.sessions.add(session);
    return session;
  }

  async endSession(session: recovery.Session): Promise<void> {
    await session.close();
    this.opened.sessions.delete(session);
  }

  /**
   * Makes everything that waits for the store fail. Used by callers that close but cannot end the process. Requests
   * in progress still finish. Their results are in the journal, which the next opening reads as that of a dead
   * session.
   */
  giveUpStore(): void {
    this.scripts.leave();
    this.store.giveUp();
  }

  async close(): Promise<void> {
    for (const { client } of this.opened.realms) await client.close();
    for (const { embedded } of this.opened.realms) await embedded?.close();
    for (const session of this.opened.sessions) await session.close();
    await this.scripts.settled();
    await this.store.close();
  }

  private async embedded(profile: RealmProfile, faults: FaultPlan | undefined): Promise<EmbeddedRealm> {
    const { startEmbeddedRealm } = await import('../realm/embedded.js');
    return startEmbeddedRealm({ redis: this.store.connect('realm'), realmId: profile.realmId, faults });
  }

  /** Reads a secret other than a realm's key. */
  secret(source: SecretSource): string {
    const secret = readKey(source, this.opened.env);
    registerSecret(secret);
    return secret;
  }

  /** Reads the key when it is used, so that a corrected key takes effect at the next request of running workers. */
  private key(profile: RealmProfile, embedded: EmbeddedRealm | null): string {
    const key = embedded === null ? readKey(profile.key, this.opened.env) : embedded.key;
    registerSecret(key);
    return key;
  }
}

/** A realm's profile with its ledger. */
export type RealmContext = {
  readonly profile: RealmProfile;
  readonly ledger: RealmLedger;
};

export type OpenRealm = RealmContext & {
  readonly client: RealmClient;
  readonly embedded: EmbeddedRealm | null;
};

function journalLimits(megabytes: number): recovery.JournalLimits {
  const folderBytesMax = megabytes * 1024 * 1024;
  return { folderBytesMax, fileBytesMax: Math.ceil(folderBytesMax / 16) };
}

/** Without this, an unreachable store would fill the log with one line per call. */
function throttled(say: (message: string) => void): (message: string) => void {
  let quietUntil = 0;
  return (message) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + 1000;
    say(message);
  };
}

export function archiveFolder(dataFolder: string): string {
  return join(dataFolder, 'archive');
}
