import { useEffect, useRef, useState } from 'preact/hooks';
import type { SessionReply } from '../../api/index.js';
import { change, goodbye, session } from '../live/call.js';
import { useChange } from '../live/resource.js';
import { useStore } from '../live/store.js';
import { Notice } from '../parts/panel.js';
import { go } from './address.js';
import { Mark } from './frame.js';

/**
 * Takes the token from the printed link. The link carries it behind `#`, which browsers never send to a server or
 * log. It is removed from the address bar first, so that it does not stay in the history.
 */
function tokenFromLink(): string {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
  if (token !== '') history.replaceState(null, '', location.pathname + location.search);
  return token;
}

async function enter(token: string): Promise<void> {
  const who = await change<SessionReply>('/api/login', { token: token.trim() });
  goodbye.set('');
  session.set(who);
  if (location.pathname === '/login') go('/', 'replace');
}

/** The login form. It takes a desk token. */
export function Login() {
  const [token, setToken] = useState('');
  const { busy, failure, attempt } = useChange();
  const field = useRef<HTMLInputElement>(null);
  const why = useStore(goodbye);

  /** `failure` shows an error. */
  const signIn = async (given: string) => {
    if (!(await attempt(() => enter(given)))) field.current?.focus();
  };

  useEffect(() => {
    document.title = 'Sign in · almoner desk';
    const given = tokenFromLink();
    if (given !== '') void signIn(given);
    else field.current?.focus();
  }, []);

  return (
    <main class="login">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault();
          void signIn(token);
        }}
      >
        <div class="login-head">
          <Mark />
          <h1>almoner desk</h1>
        </div>
        {why !== '' && failure === null && <Notice tone="warn">{why}</Notice>}
        <label for="token">Desk token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autocomplete="current-password"
          value={token}
          required
          aria-describedby="token-help"
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <div role="alert">
          {failure !== null && (
            <Notice tone="bad">
              <b>{failure.message}</b> {failure.next}
            </Notice>
          )}
        </div>
        <TokenHelp />
      </form>
    </main>
  );
}

function TokenHelp() {
  return (
    <p id="token-help" class="soft small">
      On the machine itself <code>almoner serve</code> prints a link with a token that is good until the desk
      stops; <code>almoner desk token add NAME</code> makes one that stays.
    </p>
  );
}
