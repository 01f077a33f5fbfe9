import { isAlmonerError } from '../../../core/errors/error.js';
import type { Config } from '../../../runtime/config/config.js';
import type { Logger } from '../../../runtime/logger.js';
import { riskOf } from '../../../runtime/operations/store-safety.js';
import { inspectStore } from '../../../runtime/redis/safety.js';
import { openStore } from '../../../runtime/redis/store.js';
import { type Check, failed, ok, warning } from '../check.js';

/** The store answers, and keeps what it acknowledged: append-only, fsync on every write, no eviction. */
export function storeSafe(config: Config, logger: () => Promise<Logger>): Check {
  return {
    name: 'store',
    async run() {
      try {
        const { redisUrl, dataFolder, risks } = config;
        const store = await openStore({ redisUrl, dataFolder, clientName: 'doctor', logger: await logger() });
        try {
          const findings = await inspectStore(store.ledger);
          if (findings.length === 0) return ok(`${store.address} keeps what it acknowledges`);
          const message = findings.map((found) => `${found.message} [${found.code}]`).join('\n');
          const remedy = findings.map(({ next }) => next).join(' ');
          const accepted = findings.every(({ code }) => risks.includes(riskOf(code)));
          return accepted
            ? warning(`${message}\naccepted by name in the configuration (risks)`, remedy)
            : failed(message, remedy);
        } finally {
          await store.close();
        }
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
    },
  };
}
