import { AlmonerError } from '../../../core/errors/error.js';

/** Where the desk is reached. It decides whether plain http is allowed and which Host and Origin are accepted. */
export type DeskAddress = {
  readonly host: string;
  readonly loopback: boolean;
  readonly publicUrl: URL | null;
};

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** Checks host, port and public URL. Plain http beyond loopback needs --insecure-http. */
export function deskAddress(options: {
  host: string;
  publicUrl: string | undefined;
  insecureHttp: boolean;
}): DeskAddress {
  const { host } = options;
  const loopback = isLoopback(host);
  const publicUrl = options.publicUrl === undefined ? null : parsePublicUrl(options.publicUrl);
  const isOpen = !loopback || (publicUrl !== null && !isLoopback(publicUrl.hostname));
  if (isOpen && publicUrl?.protocol !== 'https:' && !options.insecureHttp)
    throw new AlmonerError(
      'ALM_DESK_INSECURE',
      `${loopback ? `With ${publicUrl?.origin}` : `On ${host}`} tokens would cross the network in plain http. The desk was not started.`,
    );
  return { host, loopback, publicUrl };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);
}

function parsePublicUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const plain =
    url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  if (url === null || !plain || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw new AlmonerError(
      'ALM_DESK_PUBLIC_URL',
      `--public-url: expected an address like https://desk.example.org without a path, got ${JSON.stringify(text)}. The desk was not started.`,
    );
  return url;
}

/**
 * The origins by which a browser may call the desk. Any other is a site whose name was pointed here (DNS rebinding),
 * or a proxy that --public-url does not name.
 */
export function allowedOrigins(address: DeskAddress, port: number): ReadonlySet<string> {
  const own = address.loopback || isAnyAddress(address.host) ? LOOPBACK_NAMES : [];
  const named = isAnyAddress(address.host) ? [] : [bracketed(address.host)];
  const origins = [...own, ...named].map((name) => new URL(`http://${name}:${port}`).origin);
  return new Set([...origins, ...(address.publicUrl === null ? [] : [address.publicUrl.origin])]);
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || host === '[::]';
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** The origins as they appear in a Host header. */
export function hostsOf(origins: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...origins].map((origin) => new URL(origin).host));
}

/** The address to print and to open. */
export function shownUrl(address: DeskAddress, port: number): string {
  if (address.publicUrl !== null) return address.publicUrl.origin;
  return `http://${isAnyAddress(address.host) ? '127.0.0.1' : bracketed(address.host)}:${port}`;
}
