import { AlmonerError } from '../../core/errors/error.js';
import type { MemberId } from '../../core/ids.js';
import type { RealmProfile } from '../../core/profile.js';

/**
 * Bodies are put together as text, because a JavaScript number would round ids of 17 to 19 digits and no
 * stock serializer writes an integer literal from a string.
 */
type BodyProfile = Pick<RealmProfile, 'currency' | 'recipientAs'>;

/** `tokens` is signed: positive adds, negative subtracts. */
export function balanceBody(tokens: number, profile: BodyProfile): string {
  return `{"tokens":${integer(tokens)}${currency(profile)}}`;
}

export function transferBody(recipient: MemberId, tokens: number, profile: BodyProfile): string {
  // JSON allows no leading zeros; as an integer, 007 is 7.
  const literal = profile.recipientAs === 'string' ? `"${recipient}"` : String(BigInt(recipient));
  return `{"recipientId":${literal},"tokens":${integer(tokens)}${currency(profile)}}`;
}

export function walletsBody(wallets: readonly string[]): string {
  return JSON.stringify({ wallets });
}

/** RFC 8941 string: printable ASCII in quotes, with `"` and `\` escaped. */
export function structuredString(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new RangeError('expected printable ASCII in an idempotency key');
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

function integer(tokens: number): string {
  if (!Number.isSafeInteger(tokens) || tokens === 0)
    throw new RangeError(`expected a safe integer of tokens other than 0, got ${tokens}`);
  return String(tokens);
}

function currency(profile: BodyProfile): string {
  return profile.currency === null ? '' : `,"realmPointId":${JSON.stringify(profile.currency)}`;
}

/** The addresses of the five calls. Ids are digits and need no encoding; the realm id may hold anything. */
type Endpoints = {
  member(id: MemberId): string;
  web3(id: MemberId): string;
  readonly includes: string;
  tokenBalance(id: MemberId): string;
  transfer(id: MemberId): string;
};

export function createEndpoints(baseUrl: string, realmId: string): Endpoints {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const usable = base?.protocol === 'http:' || base?.protocol === 'https:';
  // A name and password in the URL would replace the Authorization header.
  if (base === undefined || !usable || base.username !== '' || base.password !== '')
    throw new AlmonerError('ALM_CONFIG_INVALID', 'The base URL of the realm is not a plain http(s) address.');
  // `.` and `..` survive encoding and would be resolved away as path segments.
  if (realmId === '' || realmId === '.' || realmId === '..')
    throw new AlmonerError('ALM_CONFIG_INVALID', `${JSON.stringify(realmId)} cannot be a realm id.`);

  const prefix = base.pathname.replace(/\/+$/, '').replace(/\/api\/v4$/, '');
  const realm = `${base.origin}${prefix}/api/v4/realms/${encodeURIComponent(realmId)}`;
  return {
    member: (id) => `${realm}/members/${id}`,
    web3: (id) => `${realm}/web3/members/${id}`,
    includes: `${realm}/members/includes`,
    tokenBalance: (id) => `${realm}/members/${id}/tokenBalance`,
    transfer: (id) => `${realm}/members/${id}/transfer`,
  };
}
