import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clockTime, grouped } from '../../../words/spelling.js';
import type { SessionReply } from '../../api/index.js';
import { change, session, useMe } from '../live/call.js';
import { useStore } from '../live/store.js';
import { live, recoveryWaited, secondWaited } from '../live/stream.js';
import { Button } from '../parts/fields.js';
import { go, Link, pathWith, useAddress } from './address.js';
import { Announcer } from './page.js';
import { ThemeChoice } from './theme.js';

const PLACES = [
  { to: '/', name: 'Overview' },
  { to: '/batches', name: 'Batches' },
  { to: '/history', name: 'History' },
  { to: '/dead', name: 'Dead letters' },
  { to: '/doubts', name: 'Doubts' },
  { to: '/approvals', name: 'Approvals' },
  { to: '/import', name: 'Import' },
  { to: '/rules', name: 'Rules' },
  { to: '/calendar', name: 'Calendar' },
  { to: '/notices', name: 'Notices' },
  { to: '/recovery', name: 'Recovery' },
  { to: '/audit', name: 'Audit' },
  { to: '/people', name: 'People' },
] as const;

/** The header, the navigation with its counts, and the page. */
export function Frame(props: { who: SessionReply; path: string; children: ComponentChildren }) {
  const { who, path, children } = props;
  const [open, setOpen] = useState(false);
  const places = useRef<HTMLElement>(null);
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (!open) return;
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setOpen(false);
    };
    document.addEventListener('keydown', closeOnEscape);
    places.current?.querySelector('a')?.focus();
    return () => document.removeEventListener('keydown', closeOnEscape);
  }, [open]);
  return (
    <div class="desk">
      <a class="skip" href="#page">
        Skip to the page
      </a>
      {open && (
        <button type="button" class="veil" aria-label="Close the menu" onClick={() => setOpen(false)} />
      )}
      <nav ref={places} class={open ? 'side open' : 'side'} id="places" aria-label="Desk">
        <Link to="/" class="brand">
          <Mark />
          almoner
        </Link>
        <Places path={path} onFollow={() => setOpen(false)} />
        <footer>
          {who.name} · {who.roles.join(', ')}
          <br />
          version {who.version}
        </footer>
      </nav>
      <header class="bar">
        <button
          type="button"
          class="menu"
          aria-expanded={open}
          aria-controls="places"
          onClick={() => setOpen(!open)}
        >
          {open ? 'Close' : 'Menu'}
        </button>
        <Search />
        <Connection />
        <ThemeChoice />
        <span class="who soft small">{who.name}</span>
        <Button name="Sign out" look="quiet" onPress={signOut} />
      </header>
      {children}
      <LostBanner />
      <Announcer />
    </div>
  );
}

/** The search field on every page. Its result has an address of its own. */
function Search() {
  const { path, query } = useAddress();
  const asked = path === '/find' ? (query.get('q') ?? '') : '';
  const [text, setText] = useState(asked);
  useEffect(() => setText(asked), [asked]);
  const search = (event: Event) => {
    event.preventDefault();
    if (text.trim() !== '') go(pathWith('/find', { q: text.trim() }));
  };
  return (
    <search>
      <form class="search" onSubmit={search}>
        <label class="unseen" for="find">
          Find a reference, file, member, order, amount or day
        </label>
        <input
          id="find"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxLength={200}
          placeholder="Reference, file, member, amount, day"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="quiet">
          Find
        </button>
      </form>
    </search>
  );
}

function Places({ path, onFollow }: { readonly path: string; readonly onFollow: () => void }) {
  const { overview } = useStore(live);
  const tally = (field: 'dead' | 'doubts') =>
    (overview?.realms ?? []).reduce((sum, realm) => sum + realm[field], 0);
  const tallies: Readonly<Record<string, number>> = {
    '/dead': tally('dead'),
    '/doubts': tally('doubts'),
    '/approvals': secondWaited(overview).length,
    '/notices': overview?.matters.length ?? 0,
    '/recovery': recoveryWaited(overview).length,
  };
  const isAdmin = useMe().roles.includes('admin');
  const isHere = (to: string) => (to === '/' ? path === '/' : path === to || path.startsWith(`${to}/`));
  return (
    <ul>
      {PLACES.filter(({ to }) => to !== '/people' || isAdmin).map(({ to, name }) => (
        <li key={to} class={to === '/import' || to === '/notices' ? 'apart' : ''}>
          <Link to={to} current={isHere(to)} onFollow={onFollow}>
            {name}
            {(tallies[to] ?? 0) > 0 && <span class="tally">{grouped(tallies[to] ?? 0)}</span>}
          </Link>
        </li>
      ))}
      <li>
        <a href="/queues">Queues</a>
      </li>
    </ul>
  );
}

function Connection() {
  const { status, at, overview } = useStore(live);
  const isAway = status === 'live' && overview?.store.up === false;
  const words = isAway ? 'No store' : { joining: 'Connecting', live: 'Live', lost: 'Lost' }[status];
  return (
    <span
      class={`live push ${isAway ? 'lost' : status}`}
      title={at === null ? undefined : `Last news at ${clockTime(at)}`}
    >
      {words}
    </span>
  );
}

/** Fixed to the lower edge of the window, so that a banner that comes and goes does not move the text above. */
function LostBanner() {
  const { status, at, overview } = useStore(live);
  const isAway = status === 'live' && overview?.store.up === false;
  const taken = overview === null ? 0 : Date.parse(overview.at);
  const shown = isAway ? (taken > 0 ? new Date(taken) : null) : at;
  return (
    <div role="status" aria-live="polite" class="lost-place">
      {(status === 'lost' || isAway) && (
        <p class="lost-banner">
          <b>{isAway ? 'The store does not answer' : 'Connection lost'}</b>
          {shown === null ? ', nothing to show yet. ' : `, showing state of ${clockTime(shown)}. `}
          Trying again by itself.
        </p>
      )}
    </div>
  );
}

export function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#2f6fd0" />
      <path
        d="M9 22 16 8l7 14"
        fill="none"
        stroke="#fff"
        stroke-width="3"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
      <circle cx="16" cy="20" r="2.4" fill="#fff" />
    </svg>
  );
}

async function signOut(): Promise<void> {
  try {
    await change('/api/logout');
  } finally {
    session.set(null);
  }
}
