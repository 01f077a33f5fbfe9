import { resolve } from 'node:path';
import { App } from '../runtime/app.js';
import { loadConfig, pickProfile, secretsOf } from '../runtime/config/config.js';
import { createLogger, registerSecret } from '../runtime/logger.js';
import type { Almoner } from './almoner.js';
import { Library } from './library.js';
import type { OpenOptions as Options } from './option-types.js';
import { OpenOptions, readOptions } from './parse-input.js';

/**
 * How long a call waits for a store that does not answer. A run of the command line waits without limit, because a
 * person can end it. A program gets an error instead, and can repeat the same call later.
 */
const PATIENCE_MS = 30_000;

/** Loads the configuration and opens the ledger. */
export async function openAlmoner(given: Options): Promise<Almoner> {
  const options = readOptions(OpenOptions, given);
  const { operator, realm, logLevel = 'silent', log, patienceMs = PATIENCE_MS } = options;
  const who = operator === undefined ? {} : { ALMONER_OPERATOR: operator };
  const env = { ...(options.env ?? process.env), ...who };
  const cwd = resolve(options.cwd ?? '.');
  const config = await loadConfig({ env, cwd, flags: { config: options.config, logLevel } });
  for (const secret of secretsOf(config, env)) registerSecret(secret);
  // A call that needs a realm picks it later where none is named. Reading the ledger needs none.
  if (realm !== undefined) pickProfile(config, realm);
  const destination = log === undefined ? {} : { destination: { write: unfailing(log) } };
  const logger = createLogger({ level: config.logLevel, ...destination });
  const app = await App.open({ config, logger, env, clientName: 'library', patienceMs });
  return new Library(app, realm, cwd);
}

/** Keeps a log function's exception away from the store's replies, where it would end the program. */
function unfailing(log: (line: string) => void): (line: string) => void {
  return (line) => {
    try {
      log(line);
    } catch {
      // A failing log has no other place to be reported.
    }
  };
}
