import { AlmonerError } from '../../core/errors/error.js';
import type { MemberId } from '../../core/ids.js';

/** The addresses of the five calls. Ids are digits and need no encoding; the realm id may hold anything. */
export type Endpoints = {
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
