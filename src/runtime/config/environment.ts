import { closest, distance } from 'fastest-levenshtein';
import type { SettingPath } from './model.js';

/** The environment variables that set one setting each. */
const SETTINGS: readonly { name: string; path: SettingPath; read: (text: string) => unknown }[] = [
  { name: 'REDIS_URL', path: ['redisUrl'], read: asText },
  { name: 'ALMONER_DATA', path: ['dataFolder'], read: asText },
  { name: 'ALMONER_REPORTS', path: ['reportsFolder'], read: asText },
  { name: 'ALMONER_JOBS', path: ['jobsFolder'], read: asText },
  { name: 'ALMONER_LOG_LEVEL', path: ['logLevel'], read: asText },
  { name: 'ALMONER_OPERATOR', path: ['operator'], read: asText },
  { name: 'ALMONER_RETENTION_DAYS', path: ['retentionDays'], read: asNumber },
  { name: 'ALMONER_ACCEPT_RISKS', path: ['risks'], read: asList },
];

/** The variables that describe one realm, by the setting of its profile that each one makes. */
export const REALM_VARIABLES = {
  baseUrl: 'ALMONER_REALM_URL',
  realmId: 'ALMONER_REALM_ID',
  key: 'ALMONER_API_KEY',
  keyFile: 'ALMONER_API_KEY_FILE',
  rate: 'ALMONER_RATE',
  certainty: 'ALMONER_CERTAINTY',
} as const;

export const CONFIG_VARIABLE = 'ALMONER_CONFIG';
const KNOWN = [
  ...SETTINGS.map((setting) => setting.name),
  ...Object.values(REALM_VARIABLES),
  CONFIG_VARIABLE,
];

export type EnvironmentSetting = {
  readonly name: string;
  readonly path: SettingPath;
  readonly value: unknown;
};

/** An empty variable counts as unset: compose files and CI hand over empty ones for what was left out. */
export function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

export function environmentSettings(env: NodeJS.ProcessEnv): readonly EnvironmentSetting[] {
  return SETTINGS.flatMap(({ name, path, read }) => {
    const text = variable(env, name);
    return text === undefined ? [] : [{ name, path, value: read(text) }];
  });
}

/**
 * A mistyped variable would silently leave a limit or a realm at its default, so unknown ones are refused.
 * Values are never shown: an unknown variable may well hold a key.
 */
export function unknownVariables(env: NodeJS.ProcessEnv, named: ReadonlySet<string>): readonly string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('ALMONER_') && !name.startsWith('ALMONER_TEST_'))
    .filter((name) => !KNOWN.includes(name) && !named.has(name))
    .sort()
    .map((name) => `${name}: not a variable that almoner knows${didYouMean(name, KNOWN)} (environment)`);
}

function asText(text: string): string {
  return text;
}

function asNumber(text: string): string | number {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}

function asList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Names that are right elsewhere and miss by meaning, not by spelling. */
const SYNONYMS: Readonly<Record<string, string>> = {
  url: 'baseUrl',
  id: 'realmId',
  currency: 'realmPointId',
  pointid: 'realmPointId',
  scheme: 'authScheme',
  redis: 'redisUrl',
  data: 'dataFolder',
  reports: 'reportsFolder',
  jobs: 'jobsFolder',
  recipient: 'recipientAs',
  balance: 'balancePath',
};

/** ` – did you mean "rate"?`, or nothing when no name is near enough to be meant. */
export function didYouMean(word: string, names: readonly string[]): string {
  const synonym = SYNONYMS[word.toLowerCase()];
  if (synonym !== undefined && names.includes(synonym)) return ` – did you mean "${synonym}"?`;
  if (names.length === 0) return '';
  const lower = new Map(names.map((name) => [name.toLowerCase(), name]));
  const best = closest(word.toLowerCase(), [...lower.keys()]);
  const near = distance(word.toLowerCase(), best) <= Math.max(2, Math.floor(word.length / 3));
  return near ? ` – did you mean "${lower.get(best) ?? best}"?` : '';
}
