import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AlmonerError } from '../../../core/errors/error.js';
import { LOCAL_NAME } from '../../../core/people.js';
import {
  type Access,
  hashOf,
  type Identity,
  isAllowed,
  isSame,
  type Tokens,
} from '../../../operations/people/tokens.js';
import { TooManyTries } from '../../error-reply.js';
import { type CookieRules, type DeskSession, readCookie, type Sessions } from './sessions.js';
import type { WrongTokens } from './wrong-tokens.js';

/**
 * Checks each request before its handler: origin (Host, Origin), identity (bearer token or session cookie), role, and
 * for a change by cookie the page's own token (CSRF). Each check refuses by itself and does not rely on another.
 */
export type Visitor = {
  readonly identity: Identity;
  /** The session; null for a script that sends its token with every request. */
  readonly session: DeskSession | null;
};

/** Facts that are known only after the port is bound. */
export type Reached = {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly cookie: CookieRules;
};

export const CSRF_HEADER = 'x-almoner-csrf';
/** Machines that watch the desk use host names of their own. These replies hold nothing for a page. */
const ANY_HOST = new Set(['/health', '/ready', '/metrics']);

/** Decides for each request who sent it and whether they may. */
export class Guard {
  private readonly local: Identity | null;

  /** `localToken` is made for this start on loopback where no token is configured. Only memory holds it. */
  constructor(
    private readonly tokens: Tokens,
    private readonly sessions: Sessions,
    private readonly wrongTokens: WrongTokens,
    localToken: string | null,
  ) {
    this.local =
      localToken === null
        ? null
        : { name: LOCAL_NAME, roles: ['operator', 'admin'], tokenHash: hashOf(localToken) };
  }

  checkPlace({ method, headers, routeOptions }: FastifyRequest, reached: Reached): void {
    const { host = '', origin } = headers;
    if (!ANY_HOST.has(routeOptions.url ?? '') && !reached.hosts.has(host.toLowerCase()))
      throw new AlmonerError(
        'ALM_DESK_HOST',
        'The desk is not known under this host name. Nothing was done.',
      );
    const foreign = origin !== undefined && !reached.origins.has(origin.toLowerCase());
    const crossing = isChange(method) && headers['sec-fetch-site'] === 'cross-site';
    if (foreign || crossing)
      throw new AlmonerError('ALM_DESK_ORIGIN', 'The request came from another site. Nothing was done.');
  }

  /** Returns a visitor with the required access, or throws an error that says why not. */
  async admit(request: FastifyRequest, reached: Reached, access: Access): Promise<Visitor> {
    const visitor = await this.recognise(request, reached);
    if (visitor === null)
      throw new AlmonerError('ALM_DESK_NOT_SIGNED_IN', 'Nobody is signed in. Nothing was done.');
    const { name, roles } = visitor.identity;
    if (!isAllowed({ roles }, access))
      throw new AlmonerError(
        'ALM_DESK_ROLE',
        `${name} is ${roles.join(' and ')}, and this needs ${access}. Nothing was done.`,
      );
    const { session } = visitor;
    const csrf = String(request.headers[CSRF_HEADER] ?? '');
    if (session !== null && isChange(request.method) && !isSame(csrf, session.csrf))
      throw new AlmonerError(
        'ALM_DESK_CSRF',
        'The request does not carry the page’s own token. Nothing was done.',
      );
    return visitor;
  }

  /** The owner of a token; null for an unknown token. Throws after too many unknown tokens from the address. */
  async identify(token: string, address: string): Promise<Identity | null> {
    if (this.local !== null && isSame(hashOf(token), this.local.tokenHash)) return this.local;
    const identity = await this.tokens.identify(token);
    if (identity !== null) return identity;
    const seconds = await this.wrongTokens.note(address);
    if (seconds > 0) throw new TooManyTries(seconds);
    return null;
  }

  async stillHolds(identity: Identity): Promise<boolean> {
    if (identity.name !== LOCAL_NAME) return this.tokens.stillHolds(identity);
    return this.local !== null && isSame(this.local.tokenHash, identity.tokenHash);
  }

  private async recognise(request: FastifyRequest, reached: Reached): Promise<Visitor | null> {
    const { authorization = '', cookie: header } = request.headers;
    const bearer = /^bearer +([\x21-\x7e]{1,200})$/i.exec(authorization)?.[1];
    if (bearer !== undefined) {
      const identity = await this.identify(bearer, addressOf(request));
      return identity === null ? null : { identity, session: null };
    }
    const cookie = readCookie(header, reached.cookie);
    const session = cookie === null ? null : await this.sessions.touch(hashOf(cookie));
    if (session === null) return null;
    if (await this.stillHolds(session)) return { identity: session, session };
    await this.sessions.end(session);
    return null;
  }
}

/** True for methods that change something; these need a CSRF token with a cookie. */
function isChange(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** The address that failed tries count for. A trusted proxy may still forward text that is no address. */
export function addressOf({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
