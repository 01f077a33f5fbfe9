import type { Config, ConfigInput } from '../../runtime/config/config.js';
import type { LogDestination, Logger } from '../../runtime/logger.js';
import { registerSecret } from '../../runtime/redaction.js';
import type { CommandBase, GlobalOptions, Surroundings } from './command.js';
import type { Output } from './output.js';

/**
 * Makes the context of a command. Configuration and logger are loaded at first use: `--help` and a usage error need
 * neither.
 */
export function createContext(
  global: GlobalOptions,
  output: Output,
  { log, ...surroundings }: Surroundings & { readonly log: LogDestination | undefined },
): CommandBase {
  const { env, cwd } = surroundings;
  let config: Promise<Config> | undefined;
  let logger: Promise<Logger> | undefined;

  const load = async (options: Pick<ConfigInput, 'environmentRealm'>): Promise<Config> => {
    const { loadConfig, secretsOf } = await import('../../runtime/config/config.js');
    const flags = { config: global.config, logLevel: global.logLevel };
    const loaded = await loadConfig({ env, cwd, flags, ...options });
    for (const secret of secretsOf(loaded, env)) registerSecret(secret);
    return loaded;
  };
  const context: CommandBase = {
    ...surroundings,
    global,
    output,
    config(options = {}) {
      config ??= load(options);
      return config;
    },
    async profile() {
      const { pickProfile } = await import('../../runtime/config/config.js');
      return pickProfile(await context.config(), global.realm);
    },
    logger() {
      logger ??= Promise.all([context.config(), import('../../runtime/logger.js')]).then(
        ([{ logLevel }, { createLogger }]) => createLogger({ level: logLevel, destination: log }),
      );
      return logger;
    },
  };
  return context;
}
