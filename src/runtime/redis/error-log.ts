import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { messageOf } from '../../core/errors/error.js';

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
