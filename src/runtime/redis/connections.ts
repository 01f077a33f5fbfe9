import { readFile } from 'node:fs/promises';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, type CommonRedisOptions, Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';
import { AlmonerError, messageOf } from '../../core/errors/error.js';
import type { StoreAddress, TlsFiles } from './address.js';

/**
 * The purpose of a connection decides what happens to a command whose reply was lost. `ledger`: the command fails
 * immediately and is never resent (ioredis would run an INCR twice). `service`: the command waits forever, as
 * BullMQ's workers require.
 */
export type Purpose = 'ledger' | 'service';

/**
 * How long a connection with waiting commands may be silent. A store host that vanishes closes no connection, and TCP
 * gives up only after a quarter of an hour. So a silent connection is destroyed and its commands fail like those of a
 * lost connection. The next connection is new, so late replies cannot mix with new ones. The limit is longer than the
 * slowest script takes; a command that is repeated because of it counts once.
 */
const ANSWER_LIMIT_MS = 10_000;
/** BullMQ's workers use blocking commands; none blocks longer than this. */
const BLOCKING_MAX_MS = 15_000;

const BY_PURPOSE = {
  ledger: { autoResendUnfulfilledCommands: false, enableOfflineQueue: false, maxRetriesPerRequest: 0 },
  service: { maxRetriesPerRequest: null },
} as const satisfies Record<Purpose, CommonRedisOptions>;

const RETRY_MAX_MS = 1000;
const CONNECT_TIMEOUT_MS = 5000;

/** An address whose TLS files have been read, so that creating a client is synchronous. */
export type Target = {
  readonly address: StoreAddress;
  readonly tls: ConnectionOptions | null;
  readonly answerMs: number;
  /** The longest time that a command of BullMQ's workers blocks. */
  readonly blockingMaxMs: number;
  /** Once aborted, no connection is made any more. Commands that wait for an unreachable store fail instead. */
  readonly givenUp: AbortController;
};

/** A connected ledger, and what to do when it is released. */
export type Joined = {
  readonly address: string;
  readonly target: Target;
  readonly ledger: Redis;
  beforeQuit(): Promise<void>;
  leave(): Promise<void>;
};

/** How long a connection waits for replies. Each limit has a default. */
export type ReplyLimits = {
  readonly answerMs?: number | undefined;
  readonly blockingMaxMs?: number | undefined;
};

/** Reads the TLS files of an address. */
export async function loadTarget(address: StoreAddress, limits: ReplyLimits = {}): Promise<Target> {
  const { answerMs = ANSWER_LIMIT_MS, blockingMaxMs = BLOCKING_MAX_MS } = limits;
  const tls = address.tls === null ? null : await readTls(address.tls);
  return { address, tls, answerMs, blockingMaxMs, givenUp: new AbortController() };
}

const backoffMs = (times: number) => Math.min(50 * times, RETRY_MAX_MS);

/** Creates a client without connecting it. The caller connects. */
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
        // A primary that was demoted answers READONLY. Reconnect through the sentinels, and resend no command.
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
        // ioredis would resend a command whose connection closed. The ledger repeats commands itself, with their
        // nonce.
        ...(purpose === 'ledger' ? { enableOfflineQueue: false, retryDelayOnFailover: 0 } : {}),
      });
      // Cluster offers all commands of Redis, and almoner uses only commands, events, duplicate, quit and disconnect.
      // One type for all forms hides from the layers above which one is in use.
      return cluster as unknown as Redis;
    }
  }
}

/** Waiting does not cure a refused login or a bad certificate. */
const DENIED = /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|DENIED)/;

/**
 * Connects and waits until the connection accepts commands. Retries until the limit. The error names the last cause,
 * because ioredis itself only says that the connection is closed.
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
    // The first closed connection rejects connect(), while the client keeps retrying.
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

/** True for errors about the server's certificate. */
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
 * A client that sends the commands of one moment in one write. ioredis writes each command separately, and with sixty
 * orders in progress the system calls cost more than the commands. This is not a pipeline: every command keeps its
 * own reply, error and outcome when the connection breaks.
 *
 * It also ends reliably. While ioredis waits to reconnect, there is no stream whose end it could notice. `disconnect`
 * then cancels the next attempt, emits no `end` and fails no command. Commands to be resent are forgotten by a
 * connection that opened but never became ready. BullMQ would wait for both forever.
 */
class SharingRedis extends Redis {
  private corked = false;
  /** Commands of lost connections. Emptied when they are sent on a new connection. */
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
    // A connection that has not begun to connect ends immediately.
    if (!reconnect && this.status === 'reconnecting') this.status = 'wait';
    super.disconnect(reconnect);
  }

  /** BullMQ uses `duplicate` to make the connection on which it waits for jobs. */
  override duplicate<Override extends Partial<RedisOptions> | undefined = undefined>(override?: Override) {
    const other: Redis = new SharingRedis({ ...this.options, ...override });
    // ioredis derives this type from reply mapping, which almoner does not use.
    return other as unknown as ReturnType<typeof Redis.prototype.duplicate<Override>>;
  }

  override sendCommand(...args: Parameters<Redis['sendCommand']>): unknown {
    const { stream } = this;
    // A second argument is a pipeline, which collects commands itself.
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

/** The message that ioredis uses, by which BullMQ recognizes it. */
const CLOSED = 'Connection is closed.';

const QUIET_MS = 1000;

/**
 * Logs a connection's errors at most once a second: a Redis that is gone or out of memory causes thousands. The
 * suppressed errors are counted. Without a listener ioredis would print them to stderr.
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
