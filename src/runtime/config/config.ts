import { existsSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { isBlock } from '../../yaml/values.js';
import { consistencyFaults, faultsOf } from './faults.js';
import type { ConfigFile } from './file.js';
import {
  CONFIG_VARIABLE,
  type Layered,
  layer,
  TOKEN_VARIABLES,
  unknownVariables,
  variable,
} from './layers.js';
import { type Config, type ConfigFlags, originText, type SettingPath } from './model.js';
import { embeddedProfile, notificationsOf, profileOf, secretAt } from './profiles.js';
import { realmSchema } from './realm-settings.js';
import { configSchema } from './settings.js';

export { type DescribedSetting, describeConfig } from './describe.js';
export type { Config } from './model.js';
export { pickProfile } from './profiles.js';
export { secretsOf } from './secrets.js';

export const CONFIG_FILE_NAME = 'almoner.config.yaml';

/** Everything from which a configuration is read. */
export type ConfigInput = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly flags: ConfigFlags;
  /**
   * `ignored` skips the environment's realm variables. `almoner realm serve` reads ALMONER_API_KEY as the first key
   * of the service itself, without a URL.
   */
  readonly environmentRealm?: 'used' | 'ignored';
};

/** The embedded profile accepts the two realm settings that the environment may set alone. */
const schema = configSchema.extend({
  embedded: z
    .object({
      rate: realmSchema.shape.rate.unwrap().optional(),
      certainty: realmSchema.shape.certainty.unwrap().optional(),
    })
    .optional(),
});

/**
 * Loads the configuration: defaults < file < environment < flags. Throws one ALM_CONFIG_INVALID that lists all
 * faults.
 */
export async function loadConfig(input: ConfigInput): Promise<Config> {
  const { env, cwd } = input;
  const home = homeOf(env);
  const configFile = findFile(input, home);
  const { settings, layered, resolve } = await readSettings(input, configFile, home);
  const folder = (name: 'dataFolder' | 'stateFolder' | 'reportsFolder' | 'jobsFolder', fallback: string) =>
    settings[name] === undefined ? fallback : resolve([name], settings[name]);
  const realms = Object.entries(settings.realms).map(([name, realm]) => ({
    name,
    realm,
    resolve: (setting: string, text: string) => resolve(['realms', name, ...setting.split('.')], text),
  }));

  return deepFreeze({
    configFile,
    redisUrl: settings.redisUrl,
    dataFolder: folder('dataFolder', defaultDataFolder(env, process.platform)),
    ephemeral: settings.ephemeral,
    stateFolder: folder('stateFolder', defaultStateFolder(env)),
    reportsFolder: folder('reportsFolder', join(cwd, 'reports')),
    jobsFolder: folder('jobsFolder', join(cwd, 'jobs')),
    logLevel: settings.logLevel,
    operator: settings.operator ?? systemUser(env),
    token: tokenOf(env, (text) => resolvePath(text, cwd, home)),
    profiles:
      realms.length === 0
        ? [embeddedProfile(settings.embedded ?? {})]
        : realms.map(({ name, realm, resolve }) => profileOf(name, realm, resolve)),
    notifications: [
      ...notificationsOf(null, settings.notifications, (setting, text) => resolve(setting.split('.'), text)),
      ...realms.flatMap(({ name, realm, resolve }) => notificationsOf(name, realm.notifications, resolve)),
    ],
    risks: settings.risks,
    retentionDays: settings.retentionDays,
    deadMan: secretAt(settings.deadMan?.urlEnv, settings.deadMan?.urlFile, (text) =>
      resolve(['deadMan', 'urlFile'], text),
    ),
    limits: settings.limits,
    origins: originsOf(layered),
  });
}

/** The settings of all layers together, and how their paths are resolved. */
async function readSettings(
  { env, cwd, flags, ...input }: ConfigInput,
  configFile: string | null,
  home: string,
) {
  const file: ConfigFile =
    configFile === null
      ? { settings: {}, faults: [], origin: () => undefined }
      : withoutEmbedded(await readFile(configFile, nameFor(configFile, cwd)));
  const layered = layer(file, env, flags, input.environmentRealm !== 'ignored');
  const base = (path: SettingPath) =>
    layered.origin(path)?.from === 'file' && configFile !== null ? dirname(configFile) : cwd;
  const resolve = (path: SettingPath, text: string) => resolvePath(text, base(path), home);
  const parsed = schema.safeParse(layered.tree);
  const faults = [
    ...file.faults,
    ...layered.faults,
    ...(parsed.success ? [] : faultsOf(parsed.error, layered, configSchema)),
    ...consistencyFaults(layered, resolve),
    ...unknownVariables(env, namedVariables(layered.tree)),
  ];
  if (!parsed.success || faults.length > 0)
    throw new AlmonerError(
      'ALM_CONFIG_INVALID',
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}. Nothing was done.`,
      { details: faults },
    );

  return { settings: parsed.data, layered, resolve };
}

function tokenOf(env: NodeJS.ProcessEnv, resolve: (text: string) => string): Config['token'] {
  const { env: name, file } = TOKEN_VARIABLES;
  return secretAt(variable(env, name) === undefined ? undefined : name, variable(env, file), resolve);
}

/** Loads the YAML reader only for a file. In a container the environment is often enough. */
async function readFile(path: string, name: string): Promise<ConfigFile> {
  const { readConfigFile } = await import('./file.js');
  return readConfigFile(path, name);
}

/** Finds the configuration file: the named one, or `almoner.config.yaml` in the current folder. */
function findFile({ env, cwd, flags }: ConfigInput, home: string): string | null {
  const named = flags.config ?? variable(env, CONFIG_VARIABLE);
  // A named file must exist. Continuing with defaults would pay with other settings than meant.
  if (named !== undefined) return resolvePath(named, cwd, home);
  const usual = join(cwd, CONFIG_FILE_NAME);
  return existsSync(usual) ? usual : null;
}

function nameFor(path: string, cwd: string): string {
  const short = relative(cwd, path);
  return short.startsWith('..') || isAbsolute(short) ? path : short;
}

/** `embedded` is a name in the layered tree only. In a file it is an unknown name. */
function withoutEmbedded(file: ConfigFile): ConfigFile {
  if (!Object.hasOwn(file.settings, 'embedded')) return file;
  const { embedded: _, ...settings } = file.settings;
  const fault = 'embedded: not a setting; the embedded realm is used when no realm is configured';
  return { ...file, settings, faults: [...file.faults, fault] };
}

/** Variables that the file itself names, such as `keyEnv: ALMONER_MAIN_KEY`, are not unknown. */
function namedVariables(tree: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (value: unknown, name: string) => {
    if (typeof value === 'string' && name.endsWith('Env')) names.add(value);
    if (isBlock(value)) for (const [key, inner] of Object.entries(value)) visit(inner, key);
  };
  visit(tree, '');
  return names;
}

function originsOf(layered: Layered): Record<string, string> {
  const origins: Record<string, string> = {};
  const visit = (value: unknown, path: readonly string[]) => {
    if (isBlock(value)) for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
    else {
      const origin = layered.origin(path);
      if (origin !== undefined) origins[path.join('.')] = originText(origin);
    }
  };
  visit(layered.tree, []);
  return origins;
}

/** Freezes the configuration, so that no code changes it while the program runs. */
function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

function homeOf(env: NodeJS.ProcessEnv): string {
  return env.HOME !== undefined && isAbsolute(env.HOME) ? env.HOME : homedir();
}

/** Resolves `~` to the home folder, even if no shell has expanded it, as in a YAML or compose file. */
function resolvePath(text: string, base: string, home: string): string {
  if (text === '~') return home;
  return text.startsWith('~/') ? join(home, text.slice(2)) : resolve(base, text);
}

/** One data folder per user, so that the ledger does not depend on the folder in which a command starts. */
export function defaultDataFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const xdg = env.XDG_DATA_HOME;
  // The XDG rules say to ignore a relative value.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'almoner');
  if (platform === 'darwin') return join(homeOf(env), 'Library', 'Application Support', 'almoner');
  return join(homeOf(env), '.local', 'share', 'almoner');
}

/** The witness of a data folder must outlive it, so the state folder is never inside the default data folder. */
function defaultStateFolder(env: NodeJS.ProcessEnv): string {
  const xdg = env.XDG_STATE_HOME;
  const state = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homeOf(env), '.local', 'state');
  return join(state, 'almoner');
}

/** Containers often run under a user id without a name; the audit then shows the id. */
function systemUser(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? env.LOGNAME ?? `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
