import { join } from 'node:path';
import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { acceptMissing } from '../../ledger/accept-missing.js';
import { allBooks, type Books } from '../../ledger/books.js';
import { arm, disarm, type Rollback, readFence } from '../../ledger/fence.js';
import { listJournals } from '../../ledger/journal-folder.js';
import { type Liveness, liveness } from '../../ledger/liveness.js';
import { journalOf, localJournals } from '../../ledger/local-journals.js';
import { mergeAttempts, mergeParked } from '../../ledger/merge.js';
import { parkedAttempts } from '../../ledger/parked.js';
import { PlanReader } from '../../ledger/plan-store.js';
import { JOURNAL_FOLDER, listSessions, registerAgain } from '../../ledger/sessions.js';
import { KnownBatches } from '../../queue/known-batches.js';
import { Orphans } from '../../queue/orphans.js';
import type { App } from '../app.js';

/** What `almoner recover`, `doctor` and the desk say and do about a store that was restarted or rolled back. */
export type RealmRecovery = {
  readonly realm: string;
  readonly armed: boolean;
  /** Nothing was ever sent from these books. */
  readonly untouched: boolean;
  readonly reason: { readonly code: string; readonly message: string; readonly next: string } | null;
  readonly rollback: Rollback | null;
  /** Sending processes that are registered, and whether they are proven dead. */
  readonly sessions: readonly {
    readonly session: string;
    readonly kind: string;
    readonly pid: number;
    readonly machine: string;
    readonly liveness: Liveness;
  }[];
  /** Payments that journals know, of batches that the store has forgotten. */
  readonly parked: readonly { readonly batch: string; readonly orders: number }[];
};

export async function recoveryState(app: App): Promise<RealmRecovery[]> {
  return Promise.all((await allBooks(app.caller)).map(stateOf));
}

async function stateOf(books: Books): Promise<RealmRecovery> {
  const [fence, entries, parked] = await Promise.all([
    readFence(books),
    listSessions(books),
    parkedAttempts(books),
  ]);
  return {
    realm: books.owner.name,
    armed: fence.armed,
    untouched: fence.untouched,
    reason: fence.reason,
    rollback: fence.rollback,
    sessions: await Promise.all(
      entries.map(async (entry) => ({
        session: entry.id,
        kind: entry.kind,
        pid: entry.pid,
        machine: entry.machine,
        liveness: await liveness(entry),
      })),
    ),
    parked: parked.map(({ batch, attempts }) => ({ batch, orders: attempts.length })),
  };
}

export type JournalsHere = { readonly folder: string; readonly sessions: number; readonly bytes: number };

export async function journalsHere(dataFolder: string): Promise<JournalsHere> {
  const folder = join(dataFolder, JOURNAL_FOLDER);
  const found = await listJournals(folder);
  return { folder, sessions: found.length, bytes: found.reduce((sum, { bytes }) => sum + bytes, 0) };
}

export type RecoverResult = {
  readonly realms: readonly RealmRecovery[];
  /** Orders that the store had forgotten something of. */
  readonly merged: number;
  readonly doubts: number;
};

/** Merges what lies on this machine, gives up what an operator says is lost, and arms where nothing is missing. */
export async function recoverRealms(app: App, lost: string | null): Promise<RecoverResult> {
  let [merged, doubts] = [0, 0];
  const all = await allBooks(app.caller);
  const known = (await Promise.all(all.map(listSessions))).flat().map(({ id }) => id);
  if (lost !== null && !known.includes(lost))
    throw new AlmonerError('ALM_LEDGER_SESSION', `No session ${lost} is registered. Nothing was changed.`);
  for (const books of all) {
    const profile = app.config.profiles.find(
      ({ baseUrl, realmId }) => baseUrl === books.owner.baseUrl && realmId === books.owner.realmId,
    );
    if (profile === undefined) continue;
    merged += await mergeHere(app, books, profile);
    if (lost !== null) doubts += await giveUp(app, books, profile, lost);
    const fence = await readFence(books);
    if (!fence.armed && !fence.untouched) await arm(books, fence.run, fence.rollback?.seen ?? 0);
  }
  return { realms: await recoveryState(app), merged, doubts };
}

async function mergeHere(app: App, books: Books, { certainty, ...rest }: RealmProfile): Promise<number> {
  const plans = new PlanReader(books);
  const context = { books, plans, certainty, underWay: new Set<string>() };
  const folder = join(app.config.dataFolder, JOURNAL_FOLDER);
  const { ended: journals, forgotten } = await localJournals(books, { id: '', journal: folder });
  for (const entry of forgotten) await registerAgain(books, entry);
  const seen = Math.max(0, ...journals.map(({ seqSeen }) => seqSeen));
  const { seq } = await readFence(books);
  if (seq < seen) await disarm(books, { at: Date.now(), seen, found: seq, by: 'recover' });
  let moved = 0;
  for (const { attempts } of journals) moved += (await mergeAttempts(context, attempts)).moved;
  moved += await mergeParked(context);
  const here = new Set(journals.map(({ head }) => head.session));
  const dead = (await listSessions(books)).filter(({ id }) => here.has(id));
  const orphans = new Orphans(
    books,
    { ...rest, certainty },
    plans,
    '',
    (no) => new KnownBatches(books).ref(no),
    null,
  );
  await orphans.adopt(dead);
  return moved;
}

/** An operator says it is lost. Where its journal lies here after all, what it tells is worth more than doubts. */
async function giveUp(app: App, books: Books, profile: RealmProfile, lost: string): Promise<number> {
  const entry = (await listSessions(books)).find(({ id }) => id === lost);
  if (entry === undefined) return 0;
  if ((await liveness(entry)) === 'alive')
    throw new AlmonerError(
      'ALM_LEDGER_SESSION',
      `Session ${lost} lives (pid ${entry.pid} on this machine), so its journal is not lost. Nothing was changed.`,
      { next: `Let it go on, or end it (kill ${entry.pid}), then run \`almoner recover\`.` },
    );
  const plans = new PlanReader(books);
  const journal = await journalOf(
    { id: lost, journal: join(app.config.dataFolder, JOURNAL_FOLDER) },
    books.realm,
  );
  if (journal === undefined)
    return acceptMissing(books, plans, lost, { who: app.config.operator, at: Date.now() });
  await mergeAttempts({ books, plans, certainty: profile.certainty, underWay: new Set() }, journal.attempts);
  const orphans = new Orphans(books, profile, plans, '', (no) => new KnownBatches(books).ref(no), null);
  await orphans.adopt([entry]);
  return 0;
}
