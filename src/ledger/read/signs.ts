import { type Presence, presenceOf, type Sign } from '../../core/presence.js';
import { askRealm, type RealmLedger, timeOn } from '../realm-ledger.js';
import { listSessions, type SessionEntry } from './session-list.js';

/** The signs of life of a realm's sending processes, and the store's time. */
export async function readSigns(ledger: RealmLedger) {
  const [entries, { seen, nowMs }] = await Promise.all([listSessions(ledger), readSeen(ledger)]);
  const signs = await Promise.all(entries.map((entry) => signOf(ledger, entry, seen)));
  return { nowMs, signs };
}

/** Null for a session that is not registered: it ended in order, or its orders were taken over. */
export async function readPresence(ledger: RealmLedger, session: string): Promise<Presence | null> {
  const [entries, { seen, nowMs }] = await Promise.all([listSessions(ledger), readSeen(ledger)]);
  const entry = entries.find(({ id }) => id === session);
  // Only this one is asked whether it lives: a realm may have many sessions.
  return entry === undefined ? null : presenceOf(await signOf(ledger, entry, seen), nowMs);
}

/** Whether each of these sessions does its work, as far as can be told. */
export async function areAtWork(ledger: RealmLedger, sessions: readonly string[]): Promise<boolean> {
  const { nowMs, signs } = await readSigns(ledger);
  return signs.every((sign) => !sessions.includes(sign.session) || presenceOf(sign, nowMs) === 'at-work');
}

export async function workersAtWork(ledger: RealmLedger): Promise<string[]> {
  const { nowMs, signs } = await readSigns(ledger);
  return signs
    .filter((sign) => sign.kind === 'worker' && presenceOf(sign, nowMs) === 'at-work')
    .map(({ session }) => session);
}

type Seen = Readonly<Record<string, string>>;

async function readSeen(ledger: RealmLedger): Promise<{ seen: Seen; nowMs: number }> {
  return askRealm(ledger, 'read signs of life', async (redis, T) => {
    const [seen, nowMs] = await Promise.all([redis.hgetall(`${T}:seen`), timeOn(redis)]);
    return { seen, nowMs };
  });
}

async function signOf(ledger: RealmLedger, entry: SessionEntry, seen: Seen): Promise<Sign> {
  const { id: session, kind, pid, machine, startedAt } = entry;
  const beat = seen[session];
  const life = await ledger.scripts.here.liveness(entry);
  const seenMs = beat === undefined ? startedAt : Number(beat);
  return { session, kind, pid, machine, life, seenMs, beats: beat !== undefined };
}
