import { randomBytes } from 'node:crypto';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { CATALOGUE } from '../core/errors/catalogue.js';
import type { AlmonerError } from '../core/errors/error.js';
import type { Books } from './books.js';
import { openBatches } from './feeding.js';
import { JOURNAL_LIMITS, Journal, type JournalLimits } from './journal.js';
import { boundJournals, listJournals, readHead } from './journal-folder.js';
import type { JournalHead } from './journal-line.js';
import { listenAlive, liveness, removeSpentSockets, whereabouts } from './liveness.js';
import { disownBatch } from './steering.js';
import type { Reason } from './views.js';

/** A sending process is a session, registered in the ledger before its first claim. */
const sessionEntry = whereabouts.extend({
  id: z.string(),
  kind: z.string(),
  startedAt: z.number(),
  /** The folder of its journal; a session that never sends has none. */
  journal: z.string().default(''),
});
export type SessionEntry = z.infer<typeof sessionEntry>;

export const JOURNAL_FOLDER = 'journal';

export type Journaling = {
  /** The journal failed for good: nothing more is sent, and the process should end. */
  readonly onFailure?: (error: AlmonerError) => void;
  readonly limits?: JournalLimits;
};

export class Session {
  private constructor(
    readonly entry: SessionEntry,
    private readonly server: Server,
    readonly journal: Journal,
  ) {}

  get id(): string {
    return this.entry.id;
  }

  static async open(kind: string, dataFolder: string, journaling: Journaling = {}): Promise<Session> {
    const id = randomBytes(6).toString('hex');
    const { server, at } = await listenAlive(dataFolder, id);
    const entry = { id, ...at, kind, startedAt: Date.now(), journal: join(dataFolder, JOURNAL_FOLDER) };
    // Before it is registered: a registered session always has a journal, and a missing one is known to be.
    const journal = await Journal.open({
      folder: entry.journal,
      head: headOf(entry),
      onFailure: (error) => journaling.onFailure?.(error),
      ...(journaling.limits === undefined ? {} : { limits: journaling.limits }),
      onRotated: () => boundJournalsOf(entry, journaling.limits ?? JOURNAL_LIMITS),
    });
    await boundJournalsOf(entry, journaling.limits ?? JOURNAL_LIMITS);
    const journals = await listJournals(entry.journal);
    await removeSpentSockets(dataFolder, new Set(journals.map(({ session }) => session)));
    return new Session(entry, server, journal);
  }

  async register(books: Books): Promise<void> {
    const { redis } = books.caller;
    await this.journal.works(books.realm);
    await books.caller.patiently('register session', async () => {
      await redis.sadd(placesKey(books), placeName(this.entry));
      await redis.hset(`${books.realm}:sessions`, this.id, JSON.stringify(this.entry));
    });
  }

  /** Ends in order: its batches lose their owner, and nobody waits for it any more, unless it has not merged. */
  async deregister(books: Books): Promise<void> {
    await disownBatches(books, this.id);
    const { seen, era } = books.mark;
    await books.caller.script('leave', books.realm, [this.id, seen, era]);
  }

  async close(): Promise<void> {
    await this.journal.close();
    this.server.close();
  }
}

/** Every folder in which a session of this machine ever kept a journal for the realm. */
export async function journalFolders(books: Books, machine: string): Promise<string[]> {
  const { redis } = books.caller;
  const names = await books.caller.patiently('list places', () => redis.smembers(placesKey(books)));
  return names.flatMap((name) => (name.startsWith(`${machine} `) ? [name.slice(machine.length + 1)] : []));
}

function placesKey(books: Books): string {
  return `${books.realm}:places`;
}

function placeName({ machine, journal }: SessionEntry): string {
  return `${machine} ${journal}`;
}

/** On behalf of a session that lives here and that a registry, rolled back, has forgotten. */
export async function registerAgain(books: Books, entry: SessionEntry): Promise<void> {
  const { redis } = books.caller;
  await books.caller.patiently('register session', () =>
    redis.hsetnx(`${books.realm}:sessions`, entry.id, JSON.stringify(entry)),
  );
}

export async function listSessions(books: Books): Promise<SessionEntry[]> {
  const { redis } = books.caller;
  const all = await books.caller.patiently('list sessions', () => redis.hvals(`${books.realm}:sessions`));
  return all.map((json) => sessionEntry.parse(JSON.parse(json)));
}

/** Of a session that is gone. Its batches lose their owner first: nobody else would let go of their members. */
export async function forgetSession(books: Books, id: string): Promise<void> {
  const { redis } = books.caller;
  await disownBatches(books, id);
  await books.caller.patiently('forget session', () => redis.hdel(`${books.realm}:sessions`, id));
}

async function disownBatches(books: Books, id: string): Promise<void> {
  for (const { no, owner } of await openBatches(books, 0))
    if (owner === id)
      await disownBatch(
        books,
        no,
        GONE,
        { at: Date.now(), who: 'almoner', what: 'run ended', why: null },
        id,
      );
}

const GONE: Reason = {
  code: 'ALM_BATCH_INTERRUPTED',
  message: 'The process that was working this run is gone. Nothing is being sent.',
  next: CATALOGUE.ALM_BATCH_INTERRUPTED.next,
};

function headOf({ id, journal: _, ...rest }: SessionEntry): JournalHead {
  return { session: id, ...rest };
}

/** A journal found on disk tells whose it is, also when the registry has forgotten the session. */
export function entryOf({ session, ...rest }: JournalHead, journal: string): SessionEntry {
  return { id: session, ...rest, journal };
}

/** Files of the living stay; of the ended the oldest go first. An own older file is history. */
async function boundJournalsOf(own: SessionEntry, limits: JournalLimits): Promise<void> {
  await boundJournals(own.journal, limits.folderBytesMax, async (session, newest) => {
    if (session === own.id) return newest;
    const files = (await listJournals(own.journal)).find((one) => one.session === session);
    const head = await readHead(files?.paths[0] ?? '');
    return head !== undefined && (await liveness(entryOf(head, own.journal))) !== 'dead';
  });
}
