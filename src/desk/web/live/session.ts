import type { SessionReply } from '../../api/index.js';
import { createStore } from './store.js';

/** `asking` until the server said who we are; null: nobody is signed in. */
export const session = createStore<SessionReply | null | 'asking'>('asking');
/** Said above the login form: why somebody who was signed in no longer is. */
export const goodbye = createStore('');

export function mayChange(who: SessionReply | null | 'asking'): boolean {
  return who !== null && who !== 'asking' && who.role === 'operator';
}

export function csrfToken(): string {
  const who = session.get();
  return who === null || who === 'asking' ? '' : who.csrf;
}

export function signedOut(why: string): void {
  if (session.get() === null) return;
  if (session.get() !== 'asking') goodbye.set(why);
  session.set(null);
}
