import { isAlmonerError } from '../../../core/errors/error.js';
import { riskOf, storeFindings } from '../../../operations/services/store-safety.js';
import { App } from '../../../runtime/app.js';
import type { Config } from '../../../runtime/config/config.js';
import type { Logger } from '../../../runtime/logger.js';
import { type Check, failed, ok, warning } from '../check.js';

/** The store answers, and keeps what it acknowledged: append-only, fsync on every write, no eviction. */
export function storeSafe(config: Config, env: NodeJS.ProcessEnv, logger: () => Promise<Logger>): Check {
  return {
    name: 'store',
    async run() {
      try {
        const app = await openForDoctor(config, env, logger);
        try {
          const findings = await storeFindings(app);
          if (findings.length === 0) return ok(`${app.store.address} keeps what it acknowledges`);
          const message = findings.map((found) => `${found.message} [${found.code}]`).join('\n');
          const remedy = findings.map(({ next }) => next).join(' ');
          const accepted = findings.every(({ code }) => config.risks.includes(riskOf(code)));
          return accepted
            ? warning(`${message}\naccepted by name in the configuration (risks)`, remedy)
            : failed(message, remedy);
        } finally {
          await app.close();
        }
      } catch (error) {
        if (isAlmonerError(error)) return failed(error.message, error.next);
        throw error;
      }
    },
  };
}

/** A person waits for the diagnosis: what does not answer soon is a finding. */
export async function openForDoctor(
  config: Config,
  env: NodeJS.ProcessEnv,
  logger: () => Promise<Logger>,
): Promise<App> {
  return App.open({ config, env, logger: await logger(), clientName: 'doctor', patienceMs: 5_000 });
}
