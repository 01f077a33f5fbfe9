import { useEffect, useRef, useState } from 'preact/hooks';
import type { BatchReply, Matter, Overview, RealmCard } from '../../api/index.js';
import { CallFailed, read } from './call.js';
import { withChanges } from './changes.js';
import { createStore, useStore } from './store.js';

/**
 * The live picture over server-sent events.
 *
 *   joining ──first event──► live ──line breaks, or silence and no answer──► lost ──event──► live
 *
 * The browser reconnects by itself after a break, but not after a refused connection, and it never notices
 * a line that died silently; both are watched here. The first event is the whole picture, later ones say what changed in it,
 * so a tab that is open for a day holds no more than one that was opened now.
 *
 * A hidden tab closes its line and asks now and then instead: browsers allow six lines to one host, and a
 * seventh tab would hang for want of one.
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

export function joinStream(): void {
  wanted = true;
  document.addEventListener('visibilitychange', visibilityChanged);
  window.addEventListener('online', connect);
  visibilityChanged();
}

export function leaveStream(): void {
  wanted = false;
  document.removeEventListener('visibilitychange', visibilityChanged);
  window.removeEventListener('online', connect);
  close();
  live.set(FIRST);
}

/** The batch whose page is open gets its own events; null ends them. */
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
    // Changes follow an overview on the same line.
    if (overview !== null) heard({ overview: withChanges(overview, JSON.parse(event.data)) });
  });
  opened.addEventListener('batch', (event) => heard({ batch: JSON.parse(event.data) }));
  // Either the session is over or the server stops: asking tells which, and a refusal leads to the login form.
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
    // Asked by hand first: an event source does not say why it was refused, and a session may have ended.
    if (await ask()) connect();
    else if (wanted) retryLater();
  }, retryMs);
  retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
}

/** After some silence a question is sent: no news is good news only while the line is alive. */
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

/** Tells by its name whether a realm is a rehearsal; orders and rules carry only the name. */
export function useIsRehearsal(): (realm: string) => boolean {
  const { overview } = useStore(live);
  // Books of rehearsals that are over have no card; their batches still say what they were.
  const known = [...(overview?.realms ?? []), ...(overview?.batches ?? [])];
  const names = new Set(known.filter(({ rehearsal }) => rehearsal).map(({ realm }) => realm));
  return (realm) => names.has(realm);
}

/** A list is read again at most so often, however quickly its orders come and go. */
const NEWS_MS = 2_000;

/** Another value whenever dead letters or doubts have come, gone or been dealt with. */
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

/** What waits for an approval, each by a name of its own. */
export function secondWaited(overview: Overview | null): string[] {
  const isFor = ({ event }: Matter) => event === 'batch.approval';
  return [
    ...(overview?.matters ?? []).filter(isFor).map(({ subject, since }) => `${subject} ${since}`),
    ...(overview?.schedules ?? []).flatMap(({ key, asked }) => (asked === null ? [] : `${key} ${asked.at}`)),
  ];
}

/** Realms that are closed until a person acts, or whose first sends wait for one after a rollback. */
export function recoveryWaited(overview: Overview | null): RealmCard[] {
  return (overview?.realms ?? []).filter(
    (realm) => isClosedForPerson(realm) || realm.waitsForPersonSince !== null,
  );
}

/** Closed without a reason it opens by itself, with the next process that sends. */
export function isClosedForPerson({ fence }: RealmCard): boolean {
  return fence !== null && !fence.armed && fence.reason !== null;
}
