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
   * Only copied: the service opens a connection of its own from it, see below. A Cluster is used as it is;
   * hand in one that resends nothing.
   */
  readonly redis: Redis;
  readonly logger?: Logger;
  readonly faults?: FaultPlan | undefined;
  /** Requests allowed per realm in a sliding window; left out: no limit. */
  readonly rateLimit?: Rate | null;
};

export type RealmService = {
  listen(address: { readonly host: string; readonly port: number }): Promise<{ readonly url: string }>;
  /** Lets running requests finish for a moment, ends hanging ones, closes the connection to Redis. */
  close(): Promise<void>;
};

const STORE_ANSWER_MS = 10_000;
const CLOSE_GRACE_MS = 3_000;

/**
 * A connection that never sends a command twice: ioredis repeats commands whose reply was lost, and a
 * repeated balance change without an Idempotency-Key would pay twice. No offline queue either, so that
 * a request during an outage is answered 503 instead of being applied long after its caller left.
 */
const SENDS_ONCE = {
  lazyConnect: true,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  commandTimeout: STORE_ANSWER_MS,
} as const;

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
  // Every request that a fault delays or hangs listens; they are bounded by the requests under way.
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

/** Unique across services and restarts by its random start, and cheap: one number more for every request. */
function requestIds(): () => string {
  const start = randomBytes(6).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${start}-${count.toString(36)}`;
  };
}
