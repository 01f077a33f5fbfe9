import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import type { StoreAddress, TlsFiles } from './address.js';

/**
 * What a connection is for decides what happens to a command whose reply was lost.
 * `ledger`: it fails at once and is never sent again by itself (ioredis would run an INCR twice).
 * `service`: it waits for ever, which is what BullMQ's workers ask for.
 */
export type Purpose = 'ledger' | 'service';

/**
 * A store host that vanishes closes no connection, and TCP gives up on it after a quarter of an hour. So a
 * connection on which commands wait and nothing comes for so long is destroyed, and what waited on it has the
 * fate of a lost connection: a new one is made, and nothing of the old one can come back mixed up with it.
 * Longer than the slowest script takes; a command asked again because of it counts once.
 */
const ANSWER_LIMIT_MS = 10_000;
/** BullMQ's workers ask with commands that block; none for longer than this. */
const BLOCKING_MAX_MS = 15_000;

const BY_PURPOSE = {
  ledger: { autoResendUnfulfilledCommands: false, enableOfflineQueue: false, maxRetriesPerRequest: 0 },
  service: { maxRetriesPerRequest: null },
} as const satisfies Record<Purpose, CommonRedisOptions>;

const RETRY_MAX_MS = 1000;
const CONNECT_TIMEOUT_MS = 5000;

/** An address whose TLS files have been read; from here on nothing is asynchronous. */
export type Target = {
  readonly address: StoreAddress;
  readonly tls: ConnectionOptions | null;
  readonly answerMs: number;
  /** The longest that a command of BullMQ's workers blocks. */
  readonly blockingMaxMs: number;
  /** Once aborted, nobody connects again: commands that wait for a store that is away are refused instead. */
  readonly givenUp: AbortController;
};

/** A connected ledger, and what to do when it is given back. */
export type Joined = {
  readonly address: string;
  readonly target: Target;
  readonly ledger: Redis;
  beforeQuit(): Promise<void>;
  leave(): Promise<void>;
};

/** How long a connection waits for replies; each has a default. */
export type ReplyLimits = {
  readonly answerMs?: number | undefined;
  readonly blockingMaxMs?: number | undefined;
};

export async function loadTarget(address: StoreAddress, limits: ReplyLimits = {}): Promise<Target> {
  const { answerMs = ANSWER_LIMIT_MS, blockingMaxMs = BLOCKING_MAX_MS } = limits;
  const tls = address.tls === null ? null : await readTls(address.tls);
  return { address, tls, answerMs, blockingMaxMs, givenUp: new AbortController() };
}

const backoffMs = (times: number) => Math.min(50 * times, RETRY_MAX_MS);

/** Creates a client without connecting it; the caller says when. */
export function createClient(target: Target, purpose: Purpose, connectionName: string): Redis {
  const { address, tls, answerMs, blockingMaxMs, givenUp } = target;
  const common = {
    ...BY_PURPOSE[purpose],
    connectionName,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: purpose === 'ledger' ? answerMs : answerMs + blockingMaxMs,
    lazyConnect: true,
    retryStrategy: (times: number) => (givenUp.signal.aborted ? null : backoffMs(times)),
    ...(address.user === null ? {} : { username: address.user }),
    ...(address.password === null ? {} : { password: address.password }),
    ...(tls === null ? {} : { tls }),
  } satisfies RedisOptions;
  switch (address.form) {
    case 'single':
      return new SharingRedis({ ...common, ...address.host, db: address.db });
    case 'sentinel':
      return new SharingRedis({
        ...common,
        db: address.db,
        sentinels: [...address.sentinels],
        name: address.master,
        sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
        // A primary that was demoted under us answers READONLY: ask the sentinels again, resend nothing.
        reconnectOnError: (error) => error.message.startsWith('READONLY'),
        ...(address.sentinelUser === null ? {} : { sentinelUsername: address.sentinelUser }),
        ...(address.sentinelPassword === null ? {} : { sentinelPassword: address.sentinelPassword }),
        ...(tls === null ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls }),
      });
    case 'cluster': {
      const { retryStrategy, lazyConnect, ...redisOptions } = common;
      const cluster = new Cluster([...address.nodes], {
        redisOptions,
        lazyConnect,
        clusterRetryStrategy: retryStrategy,
        // ioredis resends a command whose connection closed; the ledger asks again itself, with its nonce.
        ...(purpose === 'ledger' ? { enableOfflineQueue: false, retryDelayOnFailover: 0 } : {}),
      });
      // Cluster answers to every command of Redis, and almoner uses commands, events, duplicate, quit and
      // disconnect only. One type for all forms keeps the layers above from knowing which one is in use.
      return cluster as unknown as Redis;
    }
  }
}

/** Neither a refused login nor a certificate mends itself by waiting. */
const DENIED = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|DENIED)/;

/**
 * Connects and waits until the connection is ready to take commands, trying again until the limit. The
 * last error seen is told, because ioredis itself only says that the connection is closed.
 */
export function untilReady(client: Redis, limitMs: number, shownAddress: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let lastError: unknown;
    const onReady = () => settle(resolve);
    const onError = (error: unknown) => {
      lastError = error;
      if (DENIED.test(messageOf(error))) settle(() => reject(deniedError(shownAddress, error)));
      else if (isCertificateError(error)) onEnd();
    };
    const onEnd = () => settle(() => reject(unreachableError(shownAddress, lastError)));
    const timer = setTimeout(onEnd, limitMs);
    const settle = (finish: () => void) => {
      clearTimeout(timer);
      client.off('ready', onReady).off('error', onError).off('end', onEnd);
      finish();
    };
    client.on('ready', onReady).on('error', onError).on('end', onEnd);
    // The first closed connection rejects connect(), while the client itself goes on trying.
    client.connect().catch(() => {});
  });
}

function deniedError(shownAddress: string, cause: unknown): AlmonerError {
  const message = `Redis at ${shownAddress} refuses the login (${messageOf(cause)}); nothing was read or written.`;
  return new AlmonerError('ALM_STORE_DENIED', message, { cause });
}

function unreachableError(shownAddress: string, cause: unknown): AlmonerError {
  const why = cause === undefined ? 'no answer' : messageOf(cause);
  const message = `Redis at ${shownAddress} cannot be reached (${why}); nothing was read or written.`;
  const next = 'Name the authority that signed the server certificate, as ?ca=FILE at the end of REDIS_URL.';
  return new AlmonerError(
    'ALM_STORE_UNREACHABLE',
    message,
    isCertificateError(cause) ? { cause, next } : { cause },
  );
}

function isCertificateError(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return /CERT|UNABLE_TO_VERIFY/.test(error.code);
}

async function readTls(files: TlsFiles): Promise<ConnectionOptions> {
  const read = async (name: keyof TlsFiles): Promise<ConnectionOptions> => {
    const path = files[name];
    if (path === null) return {};
    try {
      return { [name]: await readFile(path) };
    } catch (error) {
      throw new AlmonerError(
        'ALM_CONFIG_INVALID',
        `The file that REDIS_URL names as ${name} cannot be read (${messageOf(error)}); nothing was connected.`,
        { next: `Mend ?${name}= in REDIS_URL.`, cause: error },
      );
    }
  };
  return Object.assign({}, await read('ca'), await read('cert'), await read('key'));
}

/**
 * A client whose commands of one moment leave in one write. ioredis writes each command by itself, and with
 * sixty orders under way the system calls cost more than the commands. Nothing else changes: every command
 * still has its own reply, its own error and its own fate when the connection breaks, which is why this is
 * not a pipeline.
 *
 * And one that ends when it is told to. While ioredis waits to connect again there is no stream whose end it could
 * hear: `disconnect` cancels the next attempt, says `end` to nobody and fails nothing; and commands that were to be
 * sent again are forgotten by a connection that opened and never became ready. BullMQ waits for both, for ever.
 */
class SharingRedis extends Redis {
  private corked = false;
  /** Commands of connections that are lost; empty again where they were sent on a new one. */
  private unanswered: Redis['commandQueue'][] = [];

  constructor(options: Omit<RedisOptions, 'replyMapping'>) {
    super(options);
    this.on('close', () => {
      this.unanswered = [...this.unanswered, this.commandQueue].filter((queue) => queue.length > 0);
    });
    this.on('end', () => {
      for (const queue of this.unanswered)
        for (let item = queue.shift(); item !== undefined; item = queue.shift())
          item.command.reject(new Error(CLOSED));
    });
  }

  override disconnect(reconnect = false): void {
    // One that has not begun to connect ends at once.
    if (!reconnect && this.status === 'reconnecting') this.status = 'wait';
    super.disconnect(reconnect);
  }

  /** BullMQ makes the connection on which it waits for work in this way. */
  override duplicate<Override extends Partial<RedisOptions> | undefined = undefined>(override?: Override) {
    const other: Redis = new SharingRedis({ ...this.options, ...override });
    // The type that ioredis works out from how replies are mapped, which almoner leaves alone.
    return other as unknown as ReturnType<typeof Redis.prototype.duplicate<Override>>;
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    // A second argument is somebody's pipeline, which collects by itself.
    if (args[1] === undefined && !this.corked && stream?.writable) {
      this.corked = true;
      stream.cork();
      process.nextTick(() => {
        this.corked = false;
        stream.uncork();
      });
    }
    return super.sendCommand(...args);
  }
}

/** In the words of ioredis, by which BullMQ knows it. */
const CLOSED = 'Connection is closed.';

const QUIET_MS = 1000;

/**
 * Logs a connection's errors at most once a second: a Redis that is out of memory or gone makes thousands
 * of them. What was left out is counted, not lost. Without a listener ioredis would print them to stderr.
 */
export function logErrorsOf(client: Redis | Cluster, use: string, logger: Logger): void {
  let lastAt = Number.NEGATIVE_INFINITY;
  let leftOut = 0;
  client.on('error', (error: unknown) => {
    const now = performance.now();
    if (now - lastAt < QUIET_MS) {
      leftOut += 1;
      return;
    }
    logger.warn({ connection: use, leftOut }, `Redis connection: ${messageOf(error)}`);
    lastAt = now;
    leftOut = 0;
  });
}
