import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { AlmonerError, hasCode, messageOf } from '../../core/errors/error.js';
import type { Rate } from '../../core/profile.js';
import { openAccounts } from './accounts.js';
import { openApiKeys } from './api-keys.js';
import { createFaultDice, type FaultPlan } from './faults.js';
import { buildHttp } from './http.js';
import { RunningKeys } from './serve-call.js';

export type RealmServiceOptions = {
  /**
   * The service only copies its options for a connection of its own, see SENDS_ONCE. A Cluster is used as it is; pass
   * one that resends no command.
   */
  readonly redis: Redis;
  readonly logger?: Logger;
  readonly faults?: FaultPlan | undefined;
  /** Requests allowed per realm in a sliding window. Omitted: no limit. */
  readonly rateLimit?: Rate | null;
};

/** A running realm service. */
export type RealmService = {
  listen(address: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  /** Gives running requests a short time to finish, ends hanging ones, and closes the connection to Redis. */
  close(): Promise<void>;
};

const STORE_ANSWER_MS = 10_000;
const CLOSE_GRACE_MS = 3_000;

/**
 * Options of a connection that never sends a command twice. ioredis normally repeats commands whose reply was lost,
 * and a repeated balance change without an Idempotency-Key would pay twice. The offline queue is off too: a request
 * during an outage gets 503, instead of being applied long after its caller left.
 */
const SENDS_ONCE = {
  lazyConnect: true,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: STORE_ANSWER_MS,
} as const;

/** Creates the realm service; `listen` starts it. */
export function createRealmService(options: RealmServiceOptions): RealmService {
  const redis = options.redis.isCluster ? options.redis : options.redis.duplicate(SENDS_ONCE);
  const own = redis !== options.redis;
  const disconnect = () => {
    if (own) redis.disconnect();
  };
  redis.on('error', (error) =>
    options.logger?.warn({ error: messageOf(error) }, 'realm service: Redis connection'),
  );

  const closing = new AbortController();
  // Every request that a fault delays adds a listener. Their number is bounded by the requests in progress.
  setMaxListeners(0, closing.signal);
  const app = buildHttp({
    apiKeys: openApiKeys(redis),
    rateLimit: options.rateLimit ?? null,
    newRequestId: requestIds(),
    closing: closing.signal,
    serving: {
      accounts: openAccounts(redis),
      running: new RunningKeys(),
      dice: options.faults === undefined ? null : createFaultDice(options.faults, () => performance.now()),
      logger: options.logger,
    },
  });
  let closed: Promise<void> | undefined;

  const close = async () => {
    closing.abort();
    const grace = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
    await app.close();
    clearTimeout(grace);
    disconnect();
  };

  return {
    async listen({ host, port }) {
      try {
        if (own) await redis.connect();
      } catch (cause) {
        disconnect();
        throw unreachable(cause);
      }
      try {
        await app.listen({ host, port });
      } catch (cause) {
        disconnect();
        throw hasCode(cause, 'EADDRINUSE') ? portTaken(host, port, cause) : cause;
      }
      return { url: app.listeningOrigin };
    },
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function unreachable(cause: unknown): AlmonerError {
  const message = 'Redis does not answer. The realm service was not started.';
  return new AlmonerError('ALM_STORE_UNREACHABLE', message, { cause });
}

function portTaken(host: string, port: number, cause: unknown): AlmonerError {
  const message = `Port ${port} on ${host} is taken by another program. The realm service was not started.`;
  return new AlmonerError('ALM_SERVICE_PORT_TAKEN', message, { cause });
}

/**
 * Request ids are unique across services and restarts because of the random start. Each further id costs only a
 * counter.
 */
function requestIds(): () => string {
  const start = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${start}-${count.toString(36)}`;
  };
}
