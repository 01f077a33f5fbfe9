import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { maskAddress, parseStoreAddress } from './address.js';
import {
  createClient,
  type Joined,
  loadTarget,
  logErrorsOf,
  type ReplyLimits,
  untilReady,
} from './connections.js';
import { type CopiedStore, type Copying, copyStore } from './copy-store.js';
import { joinEmbedded, newPresenceToken, presentName } from './embedded.js';

/** All connections of one command to its Redis. No other code opens any. */
export type Store = {
  readonly embedded: boolean;
  /** The number of the database. */
  readonly db: number;
  /** For people, with secrets masked. */
  readonly address: string;
  /** Resends and queues no command. A command fails when its reply is lost, and the ledger repeats it. */
  readonly ledger: Redis;
  /** Opens a connection for BullMQ or a service. Its commands wait while Redis is unreachable. */
  connect(use: string): Redis;
  /** Writes a copy of the store at one instant into a new file that Redis can load. */
  copyTo(file: string, copying: Copying): Promise<CopiedStore>;
  /** Stops waiting for the store: all waiting commands of this process fail. */
  giveUp(): void;
  /** Ends all connections and, if no other command uses it, the embedded server. Safe to call twice. */
  close(): Promise<void>;
};

/** How to open the store. */
export type StoreOptions = {
  readonly redisUrl: string | null;
  readonly dataFolder: string;
  /** The command's name, as CLIENT LIST shows it. */
  readonly clientName: string;
  readonly logger: Logger;
  /** How long a silent connection is kept before it is given up. */
  readonly answerMs?: number | undefined;
  /** The longest time that a service's command blocks. Its connection is given up this much later. */
  readonly blockingMaxMs?: number | undefined;
  /** How long an outside store is tried before it is reported as unreachable. */
  readonly readyLimitMs?: number | undefined;
  /** How long `close` waits for a store that does not answer. */
  readonly quitLimitMs?: number | undefined;
};

/** Limits the first connection, together with `limits.storeAnswerMs`. */
const OUTSIDE_READY_LIMIT_MS = 5000;
const QUIT_LIMIT_MS = 2000;

/** Opens the store: the outside Redis if REDIS_URL names one, otherwise the embedded server. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { redisUrl, logger, readyLimitMs = OUTSIDE_READY_LIMIT_MS, quitLimitMs = QUIT_LIMIT_MS } = options;
  const token = newPresenceToken();
  const name = (use: string) => presentName(options.clientName, token, use);
  const joined =
    redisUrl === null
      ? await joinEmbedded({
          dataFolder: options.dataFolder,
          token,
          ledgerName: name('ledger'),
          logger,
          limits: options,
        })
      : await joinOutside(redisUrl, name('ledger'), logger, { ...options, readyLimitMs });

  const services = new Set<Redis>();
  const end = async (): Promise<void> => {
    for (const client of services) client.disconnect();
    await joined.beforeQuit();
    await quit(joined.ledger, quitLimitMs);
    await joined.leave();
  };
  let ending: Promise<void> | null = null;
  return {
    embedded: redisUrl === null,
    db: 'db' in joined.target.address ? joined.target.address.db : 0,
    address: joined.address,
    ledger: joined.ledger,
    connect(use) {
      if (ending !== null) throw new Error('the store is closed');
      const client = createClient(joined.target, 'service', name(use));
      logErrorsOf(client, use, logger);
      services.add(client);
      client.once('end', () => services.delete(client));
      client.connect().catch(() => {});
      return client;
    },
    copyTo: (file, copying) => copyStore(joined.target, joined.ledger, file, copying),
    giveUp() {
      joined.target.givenUp.abort();
      // A client that is about to reconnect ends by itself. A client whose host is silent would notice much later.
      for (const client of services) if (client.status !== 'reconnecting') client.disconnect();
    },
    close() {
      ending ??= end();
      return ending;
    },
  };
}

async function joinOutside(
  redisUrl: string,
  ledgerName: string,
  logger: Logger,
  limits: ReplyLimits & { readonly readyLimitMs: number },
): Promise<Joined> {
  const target = await loadTarget(parseStoreAddress(redisUrl), limits);
  const address = maskAddress(target.address);
  const ledger = createClient(target, 'ledger', ledgerName);
  logErrorsOf(ledger, 'ledger', logger);
  try {
    await untilReady(ledger, Math.min(limits.readyLimitMs, target.answerMs), address);
  } catch (error) {
    ledger.disconnect();
    throw error;
  }
  return { address, target, ledger, async beforeQuit() {}, async leave() {} };
}

/** Lets running commands finish, but does not wait for an unreachable Redis. */
async function quit(client: Redis, limitMs: number): Promise<void> {
  if (client.status === 'end') return;
  if (client.status !== 'ready') return client.disconnect();
  const timer = setTimeout(() => client.disconnect(), limitMs);
  await client.quit().catch(() => client.disconnect());
  clearTimeout(timer);
}
