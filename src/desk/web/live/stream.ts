import { useEffect, useRef, useState } from 'preact/hooks';
import type { BatchReply, Matter, Overview, RealmCard } from '../../api/index.js';
import { CallFailed, read } from './call.js';
import { withChanges } from './changes.js';
import { createStore, useStore } from './store.js';

/**
 * The live state over server-sent events.
 *
 * joining ──first event──► live ──connection breaks, or silence and no answer──► lost ──event──► live
 *
 * The browser reconnects by itself after a break, but not after a refused connection, and it does not notice a
 * connection that died silently. This module watches for both. The first event is the whole snapshot and later events
 * hold the changes, so that a tab open for a day holds no more than a new one. A hidden tab closes its connection and
 * polls instead: browsers allow six connections to one host, and a seventh tab would hang.
 */
export type Live = {
  readonly status: 'joining' | 'live' | 'lost';
  readonly at: Date | null;
  readonly overview: Overview | null;
  readonly batch: BatchReply | null;
};

const FIRST: Live = { status: 'joining', at: null, overview: null, batch: null };
export const live = createStore<Live>(FIRST);

const SILENCE_MS = 25_000;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 15_000;
const HIDDEN_ASK_MS = 20_000;

let source: EventSource | null = null;
let batchWatched: string | null = null;
let wanted = false;
let retryMs = RETRY_MIN_MS;
let retryTimer = 0;
let silenceTimer = 0;

/** Opens the live connection for a signed-in person. */
export function joinStream(): void {
  wanted = true;
  document.addEventListener('visibilitychange', visibilityChanged);
  window.addEventListener('online', connect);
  visibilityChanged();
}

/** Closes the live connection and forgets its data, at the end of a session. */
export function leaveStream(): void {
  wanted = false;
  document.removeEventListener('visibilitychange', visibilityChanged);
  window.removeEventListener('online', connect);
  close();
  live.set(FIRST);
}

/** Subscribes to the events of the batch on the open page; null ends the subscription. */
export function watchBatch(batch: string | null): void {
  if (batchWatched === batch) return;
  batchWatched = batch;
  live.set({ ...live.get(), batch: null });
  if (wanted && !document.hidden) connect();
}

function close(): void {
  source?.close();
  source = null;
  window.clearTimeout(retryTimer);
  window.clearTimeout(silenceTimer);
}

function connect(): void {
  close();
  if (!wanted) return;
  const query = batchWatched === null ? '' : `?batch=${encodeURIComponent(batchWatched)}`;
  const opened = new EventSource(`/api/events${query}`);
  source = opened;
  opened.addEventListener('overview', (event) => heard({ overview: JSON.parse(event.data) }));
  opened.addEventListener('changes', (event) => {
    const { overview } = live.get();
    // Changes arrive after a whole overview on the same connection.
    if (overview !== null) heard({ overview: withChanges(overview, JSON.parse(event.data)) });
  });
  opened.addEventListener('batch', (event) => heard({ batch: JSON.parse(event.data) }));
  // The session ended or the server stops. A request tells which; a refusal leads to the login form.
  opened.addEventListener('bye', () => {
    close();
    lost();
    retryLater();
  });
  opened.addEventListener('error', () => {
    if (source !== opened) return;
    lost();
    if (opened.readyState === EventSource.CLOSED) retryLater();
  });
  expectWord();
}

function heard(news: Partial<Pick<Live, 'overview' | 'batch'>>): void {
  retryMs = RETRY_MIN_MS;
  live.set({ ...live.get(), ...news, status: 'live', at: new Date() });
  expectWord();
}

function lost(): void {
  if (live.get().status !== 'lost') live.set({ ...live.get(), status: 'lost' });
}

function retryLater(): void {
  window.clearTimeout(retryTimer);
  retryTimer = window.setTimeout(async () => {
    // Polls first: an event source does not say why it was refused, and the session may have ended.
    if (await ask()) connect();
    else if (wanted) retryLater();
  }, retryMs);
  retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
}

/** After some silence the page sends a request, because a dead connection is silent too. */
function expectWord(): void {
  window.clearTimeout(silenceTimer);
  silenceTimer = window.setTimeout(
    async () => {
      if (!wanted) return;
      const answered = await ask();
      if (answered || document.hidden) expectWord();
      else connect();
    },
    document.hidden ? HIDDEN_ASK_MS : SILENCE_MS,
  );
}

async function ask(): Promise<boolean> {
  try {
    const overview = await read<Overview>('/api/overview');
    live.set({ ...live.get(), overview, status: 'live', at: new Date() });
    return true;
  } catch (error) {
    if (!(error instanceof CallFailed && error.status === 401)) lost();
    return false;
  }
}

function visibilityChanged(): void {
  if (!wanted) return;
  if (document.hidden) {
    close();
    expectWord();
  } else connect();
}

/** Returns a test for realm names: is this realm a rehearsal? Orders and rules carry only the name. */
export function useIsRehearsal(): (realm: string) => boolean {
  const { overview } = useStore(live);
  // A finished rehearsal has no realm card, but its batches still name the realm.
  const known = [...(overview?.realms ?? []), ...(overview?.batches ?? [])];
  const names = new Set(known.filter(({ rehearsal }) => rehearsal).map(({ realm }) => realm));
  return (realm) => names.has(realm);
}

/** The shortest time between two reloads of a list, however often its orders change. */
const NEWS_MS = 2_000;

/** A value that changes whenever a dead letter or doubt is added, removed or decided. */
export function useUnsettledNews(): string {
  const { overview } = useStore(live);
  const now = (overview?.realms ?? []).map(({ unsettledMark }) => unsettledMark).join(' ');
  const [told, setTold] = useState(now);
  const toldAt = useRef(0);
  useEffect(() => {
    if (now === told) return;
    const tell = () => {
      toldAt.current = performance.now();
      setTold(now);
    };
    const timer = window.setTimeout(tell, Math.max(0, toldAt.current + NEWS_MS - performance.now()));
    return () => window.clearTimeout(timer);
  }, [now, told]);
  return told;
}

/** Everything that waits for an approval, each with a unique key. */
export function secondWaited(overview: Overview | null): string[] {
  const isFor = ({ event }: Matter) => event === 'batch.approval';
  return [
    ...(overview?.matters ?? []).filter(isFor).map(({ subject, since }) => `${subject} ${since}`),
    ...(overview?.schedules ?? []).flatMap(({ key, asked }) => (asked === null ? [] : `${key} ${asked.at}`)),
  ];
}

/** Realms that are closed until a person acts, and realms whose first sends wait for a person after a rollback. */
export function recoveryWaited(overview: Overview | null): RealmCard[] {
  return (overview?.realms ?? []).filter(
    (realm) => isClosedForPerson(realm) || realm.waitsForPersonSince !== null,
  );
}

/** A closed realm without a reason opens by itself with the next process that sends. */
export function isClosedForPerson({ fence }: RealmCard): boolean {
  return fence !== null && !fence.armed && fence.reason !== null;
}
