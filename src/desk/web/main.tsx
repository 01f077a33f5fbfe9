import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SessionReply } from '../api/index.js';
import { asFailure, CallFailed, read } from './live/call.js';
import { session } from './live/session.js';
import { createStore, useStore } from './live/store.js';
import { joinStream, leaveStream } from './live/stream.js';
import { Failure } from './parts/notice.js';
import { useAddress } from './shell/address.js';
import { Frame } from './shell/frame.js';
import { Login } from './shell/login.js';
import { pageFor } from './shell/pages.js';
import { applyTheme } from './shell/theme.js';

/** Why we do not know who the viewer is, when it is not for want of signing in. */
const trouble = createStore<CallFailed | null>(null);

async function whoAmI(): Promise<void> {
  trouble.set(null);
  // On the login page the answer is known, and a browser would note the refusal as an error.
  if (location.pathname === '/login') return session.set(null);
  try {
    session.set(await read<SessionReply>('/api/session'));
  } catch (error) {
    if (error instanceof CallFailed && error.status === 401) session.set(null);
    else trouble.set(asFailure(error));
  }
}

function Desk() {
  const who = useStore(session);
  const address = useAddress();
  const failure = useStore(trouble);
  const isSignedIn = who !== null && who !== 'asking';
  useEffect(() => {
    if (!isSignedIn) return;
    joinStream();
    return leaveStream;
  }, [isSignedIn]);
  if (failure !== null)
    return (
      <main class="login">
        <Failure failure={failure} onRetry={whoAmI} />
      </main>
    );
  if (who === 'asking') return null;
  if (who === null) return <Login />;
  return (
    <Frame who={who} path={address.path}>
      {pageFor(address)}
    </Frame>
  );
}

applyTheme();
const place = document.getElementById('desk');
if (place !== null) render(<Desk />, place);
whoAmI();
