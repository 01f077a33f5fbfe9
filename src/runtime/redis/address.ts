import { AlmonerError } from '../../core/errors/error.js';

/**
 * The address of an outside Redis, parsed once from REDIS_URL:
 *
 *   redis://[user:password@]host[:port][/db]
 *   redis+sentinel://[user:password@]host[:port],host[:port]/master-name[/db]
 *   redis+cluster://[user:password@]host[:port],host[:port]
 *
 * `rediss` instead of `redis` means TLS. TLS takes `?ca=FILE&cert=FILE&key=FILE`. Sentinel takes
 * `?sentinelUser=…&sentinelPassword=…` if the sentinels have credentials of their own. This file has its own grammar,
 * because WHATWG URL does not read host lists. No option turns certificate checks off.
 */
export type StoreAddress = {
  readonly user: string | null;
  readonly password: string | null;
  readonly tls: TlsFiles | null;
} & (
  | { readonly form: 'single'; readonly host: HostPort; readonly db: number }
  | {
      readonly form: 'sentinel';
      readonly sentinels: readonly HostPort[];
      readonly master: string;
      readonly db: number;
      readonly sentinelUser: string | null;
      readonly sentinelPassword: string | null;
    }
  | { readonly form: 'cluster'; readonly nodes: readonly HostPort[] }
);

type HostPort = { readonly host: string; readonly port: number };
export type TlsFiles = {
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
};

const FORMS =
  'redis://, rediss://, redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://';
const URL_PARTS =
  /^(?<scheme>[a-z+]+):\/\/(?:(?<login>[^@/?#]*)@)?(?<hosts>[^/?#]*)(?<path>\/[^?#]*)?(?:\?(?<query>[^#]*))?$/i;
const SENTINEL_PORT = 26_379;
const REDIS_PORT = 6379;
const TLS_QUERY = ['ca', 'cert', 'key'];
const SENTINEL_QUERY = ['sentinelUser', 'sentinelPassword'];

/** Used by the configuration schema, which collects faults. A fault never repeats a password. */
export function readStoreAddress(text: string): { address: StoreAddress } | { faults: readonly string[] } {
  const faults: string[] = [];
  const parts = URL_PARTS.exec(text.trim())?.groups;
  if (parts === undefined) return { faults: [`expected REDIS_URL to be an address such as ${FORMS}`] };

  const form = formOf(parts.scheme ?? '');
  if (form === null)
    return { faults: [`expected REDIS_URL to begin with one of ${FORMS}, got ${parts.scheme}://`] };

  const login = readLogin(parts.login ?? '', faults);
  const defaultPort = form.kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT;
  const hosts = (parts.hosts ?? '').split(',').map((host) => readHost(host, defaultPort, faults));
  const path = (parts.path ?? '').split('/').slice(1);
  const query = readQuery(parts.query ?? '', form, faults);
  const tls = form.tls
    ? { ca: query.get('ca') ?? null, cert: query.get('cert') ?? null, key: query.get('key') ?? null }
    : null;
  if (tls !== null && (tls.cert === null) !== (tls.key === null))
    faults.push('expected REDIS_URL to name both cert and key, or neither');
  const shared = { ...login, tls };

  const address = ((): StoreAddress => {
    switch (form.kind) {
      case 'single':
        if (hosts.length > 1)
          faults.push('expected one host in REDIS_URL; several need redis+sentinel:// or redis+cluster://');
        return { ...shared, form: 'single', host: hosts[0] ?? NO_HOST, db: readDb(path, faults) };
      case 'sentinel': {
        const master = decode(path[0] ?? '', faults);
        if (master === '')
          faults.push('expected REDIS_URL to name the master after the sentinels, e.g. …:26379/mymaster');
        return {
          ...shared,
          form: 'sentinel',
          sentinels: hosts,
          master,
          db: readDb(path.slice(1), faults),
          sentinelUser: query.get('sentinelUser') ?? null,
          sentinelPassword: query.get('sentinelPassword') ?? null,
        };
      }
      case 'cluster':
        if (path.some((part) => part !== ''))
          faults.push('a Redis Cluster has no databases; leave out the path');
        return { ...shared, form: 'cluster', nodes: hosts };
    }
  })();
  return faults.length > 0 ? { faults } : { address };
}

/** Parses REDIS_URL or throws one error with all faults. */
export function parseStoreAddress(text: string): StoreAddress {
  const result = readStoreAddress(text);
  if ('address' in result) return result.address;
  throw new AlmonerError('ALM_CONFIG_INVALID', 'REDIS_URL cannot be read; nothing was connected.', {
    details: result.faults,
  });
}

/** The address for people, without the password and without the query, which may hold one. */
export function maskAddress(address: StoreAddress): string {
  const scheme = address.tls === null ? 'redis' : 'rediss';
  const login =
    address.password !== null
      ? `${address.user ?? ''}:***@`
      : address.user !== null
        ? `${address.user}@`
        : '';
  const list = (hosts: readonly HostPort[]) =>
    hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  switch (address.form) {
    case 'single':
      return `${scheme}://${login}${list([address.host])}/${address.db}`;
    case 'sentinel':
      return `${scheme}+sentinel://${login}${list(address.sentinels)}/${address.master}/${address.db}`;
    case 'cluster':
      return `${scheme}+cluster://${login}${list(address.nodes)}`;
  }
}

type Form = { readonly kind: StoreAddress['form']; readonly tls: boolean };
const NO_HOST: HostPort = { host: '', port: 0 };

function formOf(scheme: string): Form | null {
  const match = /^redis(s?)(?:\+(sentinel|cluster))?$/i.exec(scheme);
  if (match === null) return null;
  const kind = match[2]?.toLowerCase();
  return { kind: kind === 'sentinel' || kind === 'cluster' ? kind : 'single', tls: match[1] !== '' };
}

function readLogin(text: string, faults: string[]): { user: string | null; password: string | null } {
  if (text === '') return { user: null, password: null };
  const colon = text.indexOf(':');
  const user = decode(colon === -1 ? text : text.slice(0, colon), faults);
  const password = colon === -1 ? '' : decode(text.slice(colon + 1), faults);
  // ioredis logs in only with a password; it would silently ignore a user name alone.
  if (password === '') faults.push('expected REDIS_URL to hold a password after the user, as user:password@');
  return { user: user === '' ? null : user, password: password === '' ? null : password };
}

function readHost(text: string, defaultPort: number, faults: string[]): HostPort {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^[\]:\s]+))(?::([0-9]{1,5}))?$/i.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? defaultPort : Number(match[3]);
  if (host === undefined || port < 1 || port > 65_535) {
    // Do not repeat the text: a password with an unencoded `@` or `/` would appear in it.
    faults.push('expected REDIS_URL to name host:port; encode @ : / in user and password as %40 %3A %2F');
    return NO_HOST;
  }
  return { host, port };
}

function readDb(path: readonly string[], faults: string[]): number {
  const [db = '', ...rest] = path;
  if (rest.some((part) => part !== '') || !/^[0-9]{0,5}$/.test(db))
    faults.push('expected the path of REDIS_URL to end in a database number such as /0');
  return Number(/^[0-9]+$/.exec(db)?.[0] ?? 0);
}

function readQuery(text: string, form: Form, faults: string[]): ReadonlyMap<string, string> {
  const query = new Map(new URLSearchParams(text));
  const known = [...(form.tls ? TLS_QUERY : []), ...(form.kind === 'sentinel' ? SENTINEL_QUERY : [])];
  for (const [name, value] of query) {
    if (!known.includes(name))
      faults.push(
        `REDIS_URL does not take ?${name}= in this form${known.length > 0 ? `, only ${known.join(', ')}` : ''}`,
      );
    else if (value === '') faults.push(`expected ?${name}= in REDIS_URL to have a value`);
  }
  return query;
}

function decode(text: string, faults: string[]): string {
  try {
    return decodeURIComponent(text);
  } catch {
    faults.push('expected REDIS_URL to be percent-encoded; a lone % is written %25');
    return text;
  }
}
