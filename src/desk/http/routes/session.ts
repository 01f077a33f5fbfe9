import { AlmonerError } from '../../../core/errors/error.js';
import { revokeToken } from '../../../operations/approvals/revoke-token.js';
import { addToken } from '../../../operations/people/manage-tokens.js';
import { type Identity, rankOf } from '../../../operations/people/tokens.js';
import { isoTime } from '../../../words/spelling.js';
import {
  NewTokenReply,
  RevokedReply,
  RevokeQuery,
  RevokeRequest,
  TokenParams,
  TokenRequest,
  TokensReply,
} from '../../api/people.js';
import { Done, LoginRequest, SessionReply } from '../../api/session.js';
import { ABSOLUTE_MS, type DeskSession, setCookie } from '../access/sessions.js';
import type { Desk } from '../desk.js';
import { route, WithHeaders } from '../route.js';

/** Routes for signing in and out. */
export const SESSION_ROUTES = [
  route('POST /api/login', 'anyone', {
    summary: 'Sign in with a desk token; sets the session cookie.',
    body: LoginRequest,
    reply: SessionReply,
    async handle(desk, { body, raw }) {
      const identity = await desk.guard.identify(body.token, raw.address);
      if (identity === null)
        throw new AlmonerError(
          'ALM_DESK_TOKEN_WRONG',
          'This is not a desk token known here. Nobody was signed in.',
        );
      const { cookie, session } = await desk.sessions.begin(identity);
      await note(desk, identity, 'signed in');
      return new WithHeaders(sessionReply(desk, identity, session), {
        'set-cookie': setCookie(desk.reached.cookie, cookie, ABSOLUTE_MS),
      });
    },
  }),
  route('GET /api/session', 'viewer', {
    summary: 'Who is signed in, and the token that changes must carry.',
    reply: SessionReply,
    handle: (desk, { visitor }) => sessionReply(desk, visitor.identity, visitor.session),
  }),
  route('POST /api/logout', 'viewer', {
    summary: 'End the session.',
    reply: Done,
    async handle(desk, { visitor }) {
      if (visitor.session !== null) await desk.sessions.end(visitor.session);
      await note(desk, visitor.identity, 'signed out');
      const headers = { 'set-cookie': setCookie(desk.reached.cookie, '', 0) };
      return new WithHeaders({ done: true as const }, headers);
    },
  }),
];

/** Routes for desk tokens. */
export const PEOPLE_ROUTES = [
  route('GET /api/tokens', 'admin', {
    summary: 'Who has a desk token, with which roles; never the tokens themselves.',
    reply: TokensReply,
    handle: async ({ tokens }) => ({
      tokens: (await tokens.list()).map((one) => ({ ...one, createdAt: isoTime(one.createdAt) })),
    }),
  }),
  route('POST /api/tokens', 'admin', {
    summary: 'Make a token for a person. Only this reply contains it.',
    body: TokenRequest,
    reply: NewTokenReply,
    async handle({ app }, { body: { name, roles }, visitor }) {
      return { name, token: await addToken(app.as(visitor.identity), name, roles) };
    },
  }),
  route('DELETE /api/tokens/:name', 'admin', {
    summary: 'Revoke a token: its sessions end, and what it approved and has not begun waits again.',
    params: TokenParams,
    query: RevokeQuery,
    body: RevokeRequest,
    reply: RevokedReply,
    async handle({ app, tokens, agreeing }, { params, query, visitor }) {
      return agreeing.through(async () => {
        const admins = (await tokens.list()).filter(({ roles }) => roles.includes('admin'));
        if (query.lastAdmin !== 'true' && admins.length === 1 && admins[0]?.name === params.name)
          throw new AlmonerError(
            'ALM_DESK_LAST_ADMIN',
            `Nobody but ${params.name} is admin. Nothing was revoked.`,
          );
        return revokeToken(app.as(visitor.identity), params.name);
      });
    },
  }),
];

/** Writes a sign-in or sign-out to the audit. */
function note(desk: Desk, { name, ...identity }: Identity, what: string): Promise<void> {
  return desk.audit.write({ who: name, what, why: null, batch: null }, rankOf(identity));
}

const NEVER = '9999-12-31T00:00:00.000Z';

/** A script's token has no session: it does not expire when idle and needs no CSRF token. */
function sessionReply(desk: Desk, { name, roles }: Identity, session: DeskSession | null): SessionReply {
  return {
    name,
    roles,
    csrf: session?.csrf ?? '',
    idleUntil: session === null ? NEVER : isoTime(session.idleUntil),
    endsAt: session === null ? NEVER : isoTime(session.endsAt),
    version: desk.version,
  };
}
