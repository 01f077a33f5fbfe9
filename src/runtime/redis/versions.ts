/** The supported servers. For Redis 8, the tests have run with the first milestone of 8.0, not with a release. */
const SUPPORTED: Readonly<Record<string, readonly string[]>> = {
  Redis: ['6.2', '7.0', '7.2', '7.4', '8'],
  Valkey: ['7.2', '8'],
};

/** Servers that speak the Redis protocol under a version of their own, which INFO names. */
const OTHERS: readonly (readonly [field: string, name: string])[] = [
  ['valkey_version', 'Valkey'],
  ['dragonfly_version', 'Dragonfly'],
  ['kvrocks_version', 'Kvrocks'],
  ['garnet_version', 'Garnet'],
  ['keydb_version', 'KeyDB'],
];
const OLDEST: readonly [number, number] = [6, 2];

/** Which server it is, and whether almoner supports it. */
export type ServerVersion = {
  /** For example `Valkey 8.0.1`. */
  readonly shown: string;
  readonly fault: 'too-old' | 'unsupported' | null;
};

/** Identifies the server that INFO describes. Null if INFO names no version. */
export function serverVersion(info: ReadonlyMap<string, string>): ServerVersion | null {
  const [name, version] = nameAndVersion(info);
  if (version === undefined) return null;
  const [major = '', minor = ''] = version.split('.');
  const supported = SUPPORTED[name]?.some((one) => one === major || one === `${major}.${minor}`) ?? false;
  const old =
    name === 'Redis' &&
    (Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]));
  return { shown: `${name} ${version}`, fault: supported ? null : old ? 'too-old' : 'unsupported' };
}

function nameAndVersion(info: ReadonlyMap<string, string>): [name: string, version: string | undefined] {
  for (const [field, name] of OTHERS) {
    const version = info.get(field);
    if (version !== undefined) return [name, version];
  }
  // Some versions of KeyDB name only their executable.
  if (/keydb-server$/.test(info.get('executable') ?? '')) return ['KeyDB', info.get('redis_version')];
  return ['Redis', info.get('redis_version')];
}
