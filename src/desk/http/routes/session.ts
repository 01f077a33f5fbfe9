import { AlmonerError } from '../../../core/errors/error.js';
import { isoTime } from '../../../words/spelling.js';
import { Done, LoginRequest, SessionReply } from '../../api/session.js';
import type { Desk } from '../../desk.js';
import { ABSOLUTE_MS, type DeskSession, setCookie } from '../access/sessions.js';
import type { Identity } from '../access/tokens.js';
import { route, WithHeaders } from '../route.js';

/** Signing in and out. */
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

function note(desk: Desk, { name, role }: Identity, what: string): Promise<void> {
  return desk.audit.write({ who: name, what, why: null, batch: null }, role);
}

const NEVER = '9999-12-31T00:00:00.000Z';

/** A script's token has no session: it neither idles nor needs the page's token. */
function sessionReply(desk: Desk, { name, role }: Identity, session: DeskSession | null): SessionReply {
  return {
    name,
    role,
    csrf: session?.csrf ?? '',
    idleUntil: session === null ? NEVER : isoTime(session.idleUntil),
    endsAt: session === null ? NEVER : isoTime(session.endsAt),
    version: desk.version,
  };
}
