import { closest, distance } from 'fastest-levenshtein';
import { parseBaseUrl } from '../../core/base-url.js';
import { isBlock } from '../../yaml/values.js';
import type { ConfigFile } from './file.js';
import type { ConfigFlags, Origin, SettingPath } from './model.js';

/**
 * Lays environment and flags over the file, setting by setting, and records where each value came from. The result is
 * one tree for one schema, so that all faults appear in one pass.
 */
export type Layered = {
  readonly tree: Readonly<Record<string, unknown>>;
  readonly faults: readonly string[];
  origin(path: SettingPath): Origin | undefined;
};

type Tree = { [name: string]: unknown };

/** Environment variables that set one setting each. */
const SETTINGS: readonly { name: string; setting: string; read?: (text: string) => unknown }[] = [
  { name: 'REDIS_URL', setting: 'redisUrl' },
  { name: 'ALMONER_DATA', setting: 'dataFolder' },
  { name: 'ALMONER_EPHEMERAL', setting: 'ephemeral', read: asTruth },
  { name: 'ALMONER_STATE', setting: 'stateFolder' },
  { name: 'ALMONER_REPORTS', setting: 'reportsFolder' },
  { name: 'ALMONER_JOBS', setting: 'jobsFolder' },
  { name: 'ALMONER_LOG_LEVEL', setting: 'logLevel' },
  { name: 'ALMONER_OPERATOR', setting: 'operator' },
  { name: 'ALMONER_RETENTION_DAYS', setting: 'retentionDays', read: asNumber },
  { name: 'ALMONER_ACCEPT_RISKS', setting: 'risks', read: asList },
];

/** Variables that describe one realm, by the profile setting that each one sets. */
const REALM_VARIABLES = {
  baseUrl: 'ALMONER_REALM_URL',
  realmId: 'ALMONER_REALM_ID',
  key: 'ALMONER_API_KEY',
  keyFile: 'ALMONER_API_KEY_FILE',
  rate: 'ALMONER_RATE',
  certainty: 'ALMONER_CERTAINTY',
} as const;

export const CONFIG_VARIABLE = 'ALMONER_CONFIG';
/** The token of the person who runs the command. It is personal, so it is no setting of a file that others share. */
export const TOKEN_VARIABLES = { env: 'ALMONER_TOKEN', file: 'ALMONER_TOKEN_FILE' } as const;

/** All variables with the setting that each one sets, whose description they share. Some have none. */
export const VARIABLES: readonly { readonly name: string; readonly setting: string }[] = [
  ...SETTINGS,
  ...Object.entries(REALM_VARIABLES).map(([key, name]) => ({ name, setting: `realms.NAME.${key}` })),
  { name: CONFIG_VARIABLE, setting: 'config' },
  { name: TOKEN_VARIABLES.env, setting: 'token' },
  { name: TOKEN_VARIABLES.file, setting: 'tokenFile' },
];
const KNOWN = VARIABLES.map(({ name }) => name);

/** Lays environment and flags over the tree of the file. */
export function layer(
  file: ConfigFile,
  env: NodeJS.ProcessEnv,
  flags: ConfigFlags,
  useRealm: boolean,
): Layered {
  const tree: Tree = structuredClone(file.settings);
  const over = new Map<string, Origin>();
  const faults: string[] = [];
  const set = (path: SettingPath, value: unknown, origin: Origin) => {
    if (put(tree, path, value)) over.set(JSON.stringify(path), origin);
  };

  for (const { name, setting, read } of SETTINGS) {
    const text = variable(env, name);
    if (text !== undefined) set([setting], read?.(text) ?? text, { from: 'environment', name });
  }
  if (useRealm) layRealm(tree, env, set, faults);
  if (flags.logLevel !== undefined) set(['logLevel'], flags.logLevel, { from: 'flag', name: '--log-level' });
  return { tree, faults, origin: (path) => nearest(over, path) ?? file.origin(path) };
}

/**
 * The realm of the environment must be complete or absent. A forgotten id must not send a batch to another realm, and
 * a forgotten URL must not turn a payout into a rehearsal.
 */
function layRealm(
  tree: Tree,
  env: NodeJS.ProcessEnv,
  set: (path: SettingPath, value: unknown, origin: Origin) => void,
  faults: string[],
): void {
  const read = (key: keyof typeof REALM_VARIABLES) => variable(env, REALM_VARIABLES[key]);
  const put = (path: SettingPath, value: unknown, key: keyof typeof REALM_VARIABLES) =>
    set(path, value, { from: 'environment', name: REALM_VARIABLES[key] });
  const baseUrl = read('baseUrl');
  const realmId = read('realmId');
  const key = read('key');
  const keyFile = read('keyFile');
  const whole = baseUrl !== undefined && realmId !== undefined && (key ?? keyFile) !== undefined;
  // A profile of the file may take its key from ALMONER_API_KEY. The variable then needs no URL beside it.
  const keyIsTheFiles = baseUrl === undefined && realmId === undefined && namesKeyVariable(tree);
  const some = [baseUrl, realmId, keyIsTheFiles ? undefined : key, keyFile].some(
    (value) => value !== undefined,
  );
  if (key !== undefined && keyFile !== undefined)
    faults.push(
      'ALMONER_API_KEY_FILE: expected either ALMONER_API_KEY or ALMONER_API_KEY_FILE, got both (environment)',
    );
  if (some && !whole) faults.push(...missingParts(baseUrl, realmId, key ?? keyFile));

  let names = Object.keys(isBlock(tree.realms) ? tree.realms : {});
  if (whole) {
    const name = names.find((each) => isSameRealm(tree, each, baseUrl, realmId)) ?? realmId;
    if (names.includes(name) && !isSameRealm(tree, name, baseUrl, realmId))
      faults.push(
        `realms.${name}: expected another name, because the environment's realm has this id at another URL`,
      );
    put(['realms', name, 'baseUrl'], baseUrl, 'baseUrl');
    put(['realms', name, 'realmId'], realmId, 'realmId');
    put(['realms', name, 'keyEnv'], key === undefined ? undefined : REALM_VARIABLES.key, 'key');
    put(['realms', name, 'keyFile'], key === undefined ? keyFile : undefined, 'keyFile');
    names = [name];
  }
  // With a realm in the environment these variables apply to it; otherwise they override the realms of the file.
  for (const setting of ['rate', 'certainty'] as const) {
    const text = read(setting);
    if (text === undefined) continue;
    for (const name of names) put(['realms', name, setting], text, setting);
    if (names.length === 0) put(['embedded', setting], text, setting);
  }
}

/** Names the missing variables of an incomplete realm. */
function missingParts(...[baseUrl, realmId, key]: readonly (string | undefined)[]): readonly string[] {
  const parts: readonly [string, string | undefined][] = [
    ['ALMONER_REALM_URL', baseUrl],
    ['ALMONER_REALM_ID', realmId],
    ['ALMONER_API_KEY', key],
  ];
  const present = parts.filter(([, value]) => value !== undefined).map(([name]) => name);
  return parts
    .filter(([, value]) => value === undefined)
    .map(([name]) => {
      const hint = name === 'ALMONER_API_KEY' ? ' (or ALMONER_API_KEY_FILE)' : '';
      return `${name}: missing${hint}, because ${present.join(' and ')} ${present.length === 1 ? 'is' : 'are'} set; set all of them or none (environment)`;
    });
}

function isSameRealm(tree: Tree, name: string, baseUrl: string, realmId: string): boolean {
  const realm = isBlock(tree.realms) ? tree.realms[name] : undefined;
  if (!isBlock(realm) || typeof realm.baseUrl !== 'string') return false;
  const [ours, theirs] = [parseBaseUrl(baseUrl), parseBaseUrl(realm.baseUrl)];
  return (
    realm.realmId === realmId && 'baseUrl' in ours && 'baseUrl' in theirs && ours.baseUrl === theirs.baseUrl
  );
}

/** Returns false if the file has a value that is not a block on the way. The schema then reports that. */
function put(tree: Tree, path: SettingPath, value: unknown): boolean {
  const [head, ...rest] = path;
  if (head === undefined) return false;
  if (rest.length === 0) {
    if (value === undefined) delete tree[head];
    else tree[head] = value;
    return value !== undefined;
  }
  const next = tree[head] ?? {};
  if (!isBlock(next)) return false;
  const copy: Tree = { ...next };
  tree[head] = copy;
  return put(copy, rest, value);
}

function nearest(origins: ReadonlyMap<string, Origin>, path: SettingPath): Origin | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const found = origins.get(JSON.stringify(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function namesKeyVariable(tree: Tree): boolean {
  const realms = isBlock(tree.realms) ? Object.values(tree.realms) : [];
  return realms.some((realm) => isBlock(realm) && realm.keyEnv === REALM_VARIABLES.key);
}

/** Reads a variable; an empty one counts as unset. Compose files and CI pass empty variables for omitted values. */
export function variable(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === '' ? undefined : text;
}

/**
 * Refuses unknown ALMONER_ variables. A mistyped one would silently leave a limit or a realm at its default. Values
 * are never shown, because an unknown variable may hold a key.
 */
export function unknownVariables(env: NodeJS.ProcessEnv, named: ReadonlySet<string>): readonly string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('ALMONER_') && !name.startsWith('ALMONER_TEST_'))
    .filter((name) => !KNOWN.includes(name) && !named.has(name))
    .sort()
    .map((name) => `${name}: not a variable that almoner knows${didYouMean(name, KNOWN)} (environment)`);
}

function asNumber(text: string): string | number {
  return /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}

function asTruth(text: string): string | boolean {
  if (text === '1' || text === 'true') return true;
  return text === '0' || text === 'false' ? false : text;
}

function asList(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Names that other tools use for the same setting. Spelling distance would not find them. */
const SYNONYMS: Readonly<Record<string, string>> = {
  url: 'baseUrl',
  id: 'realmId',
  currency: 'realmPointId',
  pointid: 'realmPointId',
  scheme: 'authScheme',
  redis: 'redisUrl',
  data: 'dataFolder',
  state: 'stateFolder',
  reports: 'reportsFolder',
  jobs: 'jobsFolder',
  recipient: 'recipientAs',
  balance: 'balancePath',
};

/** Returns ` – did you mean "rate"?`, or an empty text if no name is near enough. */
export function didYouMean(word: string, names: readonly string[]): string {
  const synonym = SYNONYMS[word.toLowerCase()];
  if (synonym !== undefined && names.includes(synonym)) return ` – did you mean "${synonym}"?`;
  if (names.length === 0) return '';
  const lower = new Map(names.map((name) => [name.toLowerCase(), name]));
  const best = closest(word.toLowerCase(), [...lower.keys()]);
  const near = distance(word.toLowerCase(), best) <= Math.max(2, Math.floor(word.length / 3));
  return near ? ` – did you mean "${lower.get(best) ?? best}"?` : '';
}
