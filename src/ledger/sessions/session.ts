import { randomBytes } from 'node:crypto';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { CATALOGUE } from '../../core/errors/catalogue.js';
import { AlmonerError } from '../../core/errors/error.js';
import { otherFormat } from '../format.js';
import { Here, type OwnFolder, removeSpentSockets } from '../here/liveness.js';
import { boundJournals } from '../journal/budget.js';
import { listJournals, readHead } from '../journal/folder.js';
import { JOURNAL_LIMITS, Journal, type JournalLimits } from '../journal/journal.js';
import { PositionNotes } from '../journal/positions.js';
import { openBatches } from '../moves/feed.js';
import { disownBatch } from '../moves/steer.js';
import { forgetRefusals } from '../read/refusals.js';
import { entryOf, headOf, JOURNAL_FOLDER, type SessionEntry } from '../read/session-list.js';
import { askRealm, type RealmLedger, timeOn } from '../realm-ledger.js';
import type { Reason } from '../views.js';
import type { SendLimits } from './under-way.js';
import { sendingOf } from './under-way.js';

type Journaling = {
  /** The journal failed for good: nothing more is sent, and the process should end. */
  readonly onFailure?: (error: AlmonerError) => void;
  readonly limits?: JournalLimits;
  readonly here?: Here;
  readonly ephemeral?: boolean;
};

type SessionParts = {
  readonly entry: SessionEntry;
  readonly server: Server;
  readonly journal: Journal;
  readonly here: Here;
  readonly limits: JournalLimits;
};

export class Session {
  private readonly staying = new Set<string>();
  private readonly joined = new Map<string, RealmLedger>();
  private readonly sendLimits = new Map<string, SendLimits>();
  /** How far this session saw the ledgers come. */
  readonly positions: PositionNotes;

  readonly entry: SessionEntry;
  readonly journal: Journal;

  private constructor(
    private readonly parts: SessionParts,
    own: Pick<OwnFolder, 'witness' | 'number'>,
  ) {
    const { entry, journal } = parts;
    this.entry = entry;
    this.journal = journal;
    this.positions = new PositionNotes({
      session: entry.id,
      dataFolder: dirname(entry.journal),
      journals: entry.journal,
      ...own,
      isDead: (session) => this.isDead(session),
    });
  }

  get id(): string {
    return this.entry.id;
  }

  static async open(kind: string, dataFolder: string, journaling: Journaling = {}): Promise<Session> {
    const {
      limits = JOURNAL_LIMITS,
      here = new Here(dataFolder),
      onFailure = () => {},
      ephemeral = false,
    } = journaling;
    const id = randomBytes(6).toString('hex');
    const { server, at } = await here.listen(dataFolder, id);
    const folder = join(dataFolder, JOURNAL_FOLDER);
    const entry = { id, ...at, kind, startedAt: Date.now(), journal: folder, ephemeral };
    // Before it is registered: a registered session always has a journal, and a missing one is known to be.
    const journal = await Journal.open({
      folder: entry.journal,
      head: headOf(entry),
      onFailure,
      limits,
      onRotated: () => session.boundJournals(),
      onIntent: (realm, seq) => session.sends(realm, seq),
    });
    const { witness = null, number = '' } = (await here.ownFolder()) ?? {};
    const session = new Session({ entry, server, journal, here, limits }, { witness, number });
    await session.boundJournals();
    const journals = await listJournals(entry.journal);
    await removeSpentSockets(dataFolder, new Set(journals.map((one) => one.session)));
    return session;
  }

  /** Before it works: nobody has to wait until it has merged what it never began. */
  join(ledger: RealmLedger): Promise<void> {
    return this.enter(ledger, this.journal.isEmpty ? 'has begun nothing' : '');
  }

  /** Before its first claim and before it merges, and again whenever the registry may have forgotten this session. */
  async register(ledger: RealmLedger, profile: SendLimits | null = null): Promise<void> {
    if (profile !== null) this.sendLimits.set(ledger.keyPrefix, profile);
    await this.enter(ledger, '');
  }

  private async enter(ledger: RealmLedger, how: Entering): Promise<void> {
    await this.journal.works(ledger.keyPrefix);
    if (ledger.mark.session !== this.id) Object.assign(ledger.mark, { session: this.id, begun: 0 });
    this.joined.set(ledger.keyPrefix, ledger);
    const limits = this.sendLimits.get(ledger.keyPrefix) ?? null;
    const answer = await enterRealm(ledger, this.entry, limits, how);
    if (answer === 'lost') throw givenUp(this.id);
    if (answer === 'older' || answer === 'newer') throw otherFormat(answer);
  }

  /** A sign of life every now and then lets people hear of a session that falls silent. Nothing safe rests on it. */
  async sayAlive(ledger: RealmLedger): Promise<void> {
    await askRealm(ledger, 'say alive', async (redis, T) =>
      redis.hset(`${T}:seen`, this.id, await timeOn(redis)),
    );
  }

  /** It holds results that the ledger has not taken: its registration lets the next process find its journal. */
  stay(ledger: RealmLedger): void {
    this.staying.add(ledger.keyPrefix);
  }

  /** Ends in order: its batches lose their owner, and nobody waits for it any more, unless it has not merged. */
  async deregister(ledger: RealmLedger): Promise<void> {
    await disownBatches(ledger, this.id);
    if (this.staying.has(ledger.keyPrefix)) return;
    // An error between begin and settle left them behind. The next process finds them by this registration.
    if ((await sendingOf(ledger, new Set([this.id]))).length > 0) return;
    await forgetRefusals(ledger, this.id);
    const { seen, era, begun } = ledger.mark;
    const nothing = this.journal.isEmpty ? '1' : '';
    if (this.journal.isEmpty) await this.journal.leaves(ledger.keyPrefix);
    const others = (await this.hasOtherJournals()) ? JSON.stringify(this.entry) : '';
    await ledger.scripts.script('leave', ledger.keyPrefix, [this.id, seen, era, nothing, '', begun, others]);
  }

  private async hasOtherJournals(): Promise<boolean> {
    return (await listJournals(this.entry.journal)).some(({ session }) => session !== this.id);
  }

  async close(): Promise<void> {
    for (const ledger of this.joined.values()) this.positions.saw(ledger, ledger.mark.seen);
    await this.positions.end();
    await this.journal.close();
    this.parts.server.close();
  }

  /** Before a request leaves. */
  private async sends(realm: string, seq: number): Promise<void> {
    const ledger = this.joined.get(realm);
    if (ledger !== undefined) await this.positions.sends(ledger, seq);
  }

  private async isDead(session: string): Promise<boolean> {
    const { journal: folder } = this.entry;
    const files = (await listJournals(folder)).find((one) => one.session === session);
    const head = files && (await readHead(files));
    return head !== undefined && (await this.parts.here.liveness(entryOf(head, folder))) === 'dead';
  }

  private boundJournals(): Promise<number> {
    const { journal: folder } = this.entry;
    return boundJournals({
      folder,
      session: this.id,
      journal: this.journal,
      bytesMax: this.parts.limits.folderBytesMax,
      eraOf: (realm) => this.joined.get(realm)?.mark.era || undefined,
      isDead: (session) => this.isDead(session),
    });
  }
}

/** The process that finds itself given up says this, and ends for it. */
export function givenUp(session: string): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_GIVEN_UP',
    `This process (session ${session}) was given up as lost by an operator (recover --accept-missing) while it lived. Nothing more is sent by it. What it was sending is unknown to the ledger; answers that still come are kept in its journal and count.`,
  );
}

type Entering = '' | 'has begun nothing' | 'only if forgotten';

async function enterRealm(
  ledger: RealmLedger,
  entry: SessionEntry,
  limits: SendLimits | null,
  how: Entering,
): Promise<unknown> {
  const { storeId = '' } = (await ledger.scripts.here.ownFolder()) ?? {};
  return ledger.scripts.script('register', ledger.keyPrefix, [
    entry.id,
    JSON.stringify(entry),
    limits === null ? '' : `${limits.settleMs} ${limits.timeouts.totalMs}`,
    how,
    storeId,
  ]);
}

/** Registers a session that lives here and that a rolled-back registry has forgotten. */
export async function registerAgain(ledger: RealmLedger, entry: SessionEntry): Promise<void> {
  await enterRealm(ledger, entry, null, 'only if forgotten');
}

/**
 * Takes a session that is gone from the register of the store on which that was found out. Its batches lose their owner
 * first: nobody else would let go of their members.
 */
export async function forgetSession(ledger: RealmLedger, id: string, store = ''): Promise<boolean> {
  await disownBatches(ledger, id);
  await forgetRefusals(ledger, id);
  return (await ledger.scripts.script('leave', ledger.keyPrefix, [id, 0, '', '1', store, '', ''])) === 'left';
}

async function disownBatches(ledger: RealmLedger, id: string): Promise<void> {
  for (const batch of await openBatches(ledger))
    if (batch.owner === id)
      await disownBatch(
        { ...batch, ledger },
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

/** Of a journal whose head cannot be read, only its name and folder are known. */
export async function sessionIn(here: Here, journal: string, id: string): Promise<SessionEntry> {
  const at = await here.whereaboutsIn(dirname(journal), id);
  return { id, ...at, kind: 'unknown', startedAt: 0, journal, ephemeral: false };
}
