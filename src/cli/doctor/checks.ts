import type { Config } from '../../runtime/config/config.js';
import type { CommandBase } from '../frame/command.js';
import type { Check } from './check.js';
import { folderWritable } from './checks/folder.js';
import { keyPlace } from './checks/key-place.js';
import { realmAnswers } from './checks/realm.js';
import { recovery } from './checks/recovery.js';
import { storeSafe } from './checks/store.js';
import { transport } from './checks/transport.js';
import { waiting } from './checks/waiting.js';

/** Everything that is looked at once the configuration is known to be valid, in the order it is printed. */
export function checksFor(
  config: Config,
  { env, logger }: Pick<CommandBase, 'env' | 'logger'>,
): readonly Check[] {
  return [
    folderWritable('data', config.dataFolder, 'ALMONER_DATA'),
    folderWritable('reports', config.reportsFolder, 'ALMONER_REPORTS'),
    folderWritable('jobs', config.jobsFolder, 'ALMONER_JOBS'),
    storeSafe(config, env, logger),
    recovery(config, env, logger),
    waiting(config, env, logger),
    ...config.profiles.flatMap((profile) => [
      transport(profile),
      keyPlace(profile, env),
      realmAnswers(profile, env),
    ]),
  ];
}
