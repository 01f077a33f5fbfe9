import { AlmonerError } from '../../../core/errors/error.js';
import type { Role } from '../../api/index.js';
import { type CookieRules, type DeskSession, readCookie, type Sessions } from './sessions.js';
import { hashOf, type Identity, isSame, LOCAL_NAME, type Tokens } from './tokens.js';
import type { WrongTokens } from './wrong-tokens.js';

/**
 * Every request passes here before anything else looks at it: first where it came from (Host, Origin), then
 * who it is (bearer token or session cookie), then whether they may (role), then, for a change by cookie,
 * whether the page itself asked for it (CSRF). Each step refuses by itself; none relies on another.
 */
export type Asked = {
  readonly method: string;
  /** The matched route's own address, as it was registered; empty where none matched. */
  readonly route: string;
  readonly address: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
};

export type Visitor = {
  readonly identity: Identity;
  /** Null for scripts that carry their token with every request. */
  readonly session: DeskSession | null;
};

export type GuardOptions = {
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly wrongTokens: WrongTokens;
  /** Made for this start on loopback where no token is configured; kept in memory only. */
  readonly localToken: string | null;
};

/** What is known only once the port is bound. */
export type Reached = {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  readonly cookie: CookieRules;
};

export const CSRF_HEADER = 'x-almoner-csrf';
/** Machines that watch the desk call it by names of their own; neither answers anything to a page. */
const ANY_HOST = new Set(['/health', '/ready', '/metrics']);

export class Guard {
  constructor(private readonly options: GuardOptions) {}

  checkPlace(asked: Asked, reached: Reached): void {
    const host = one(asked, 'host')?.toLowerCase();
    if (!ANY_HOST.has(asked.route) && (host === undefined || !reached.hosts.has(host)))
      throw new AlmonerError(
        'ALM_DESK_HOST',
        'The desk is not known under this host name. Nothing was done.',
      );
    const origin = one(asked, 'origin');
    const foreign = origin !== undefined && !reached.origins.has(origin.toLowerCase());
    const crossing = isChange(asked.method) && one(asked, 'sec-fetch-site') === 'cross-site';
    if (foreign || crossing)
      throw new AlmonerError('ALM_DESK_ORIGIN', 'The request came from another site. Nothing was done.');
  }

  /** Somebody who may do this, or an error that says why not. */
  async admit(asked: Asked, reached: Reached, role: Role): Promise<Visitor> {
    const visitor = await this.recognise(asked, reached);
    if (visitor === null)
      throw new AlmonerError('ALM_DESK_NOT_SIGNED_IN', 'Nobody is signed in. Nothing was done.');
    if (role === 'operator' && visitor.identity.role !== 'operator')
      throw new AlmonerError(
        'ALM_DESK_ROLE',
        `${visitor.identity.name} may look but not change. Nothing was done.`,
      );
    const { session } = visitor;
    if (session !== null && isChange(asked.method) && !isSame(one(asked, CSRF_HEADER) ?? '', session.csrf))
      throw new AlmonerError(
        'ALM_DESK_CSRF',
        'The request does not carry the page’s own token. Nothing was done.',
      );
    return visitor;
  }

  /** Whose token it is; null when it is nobody's, and an error when too many such came from there. */
  async identify(token: string, address: string): Promise<Identity | null> {
    const identity = this.localIdentity(token) ?? (await this.options.tokens.identify(token));
    if (identity !== null) return identity;
    const seconds = await this.options.wrongTokens.note(address);
    if (seconds > 0) throw new TooManyTries(seconds);
    return null;
  }

  async stillHolds(identity: Identity): Promise<boolean> {
    if (identity.name !== LOCAL_NAME) return this.options.tokens.stillHolds(identity);
    const { localToken } = this.options;
    return localToken !== null && isSame(hashOf(localToken), identity.tokenHash);
  }

  private async recognise(asked: Asked, reached: Reached): Promise<Visitor | null> {
    const bearer = /^bearer +([\x21-\x7e]{1,200})$/i.exec(one(asked, 'authorization') ?? '')?.[1];
    if (bearer !== undefined) {
      const identity = await this.identify(bearer, asked.address);
      return identity === null ? null : { identity, session: null };
    }
    const cookie = readCookie(one(asked, 'cookie'), reached.cookie);
    const session = cookie === null ? null : await this.options.sessions.find(cookie);
    if (session === null) return null;
    if (await this.stillHolds(session)) return { identity: session, session };
    await this.options.sessions.end(session);
    return null;
  }

  private localIdentity(token: string): Identity | null {
    const { localToken } = this.options;
    if (localToken === null || !isSame(hashOf(token), hashOf(localToken))) return null;
    return { name: LOCAL_NAME, role: 'operator', tokenHash: hashOf(localToken) };
  }
}

export class TooManyTries extends AlmonerError {
  constructor(readonly seconds: number) {
    super(
      'ALM_DESK_TOO_MANY_TRIES',
      `This is not a desk token known here, and too many such came from this address. Nobody was signed in; try again in ${seconds} s.`,
    );
  }
}

function isChange(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function one(asked: Asked, name: string): string | undefined {
  const value = asked.headers[name];
  return typeof value === 'string' ? value : undefined;
}
