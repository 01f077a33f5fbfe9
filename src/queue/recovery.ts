import type { Books } from '../ledger/books.js';
import type { Door } from '../ledger/door.js';
import {
  arm,
  disarm,
  type Fence,
  noteRollback,
  readFence,
  reportMerged,
  sayDisarmed,
} from '../ledger/fence.js';
import { readFloor } from '../ledger/journal-folder.js';
import type { SessionJournal } from '../ledger/journal-reader.js';
import { journalOf, localJournals } from '../ledger/local-journals.js';
import { type MergeContext, type Merged, mergeAttempts, mergeParked } from '../ledger/merge.js';
import { listSessions, registerAgain, type Session, type SessionEntry } from '../ledger/sessions.js';
import { floorReason, missingReason } from './reasons.js';

/**
 * After a restart, failover or restore of the store nothing is sent until the journals are merged.
 *
 *   armed      claim and send scripts find the run_id, era and sequence they expect
 *   disarmed   they do not: this process merges its own journal and those of ended sessions of its machine,
 *              says so in the ledger, and tries to arm. Every other process does the same for itself.
 *   missing    a registered session has not merged: frozen, elsewhere, or its disk is lost. Nothing is sent,
 *              `status`, `doctor` and the desk name it, and the next round tries again.
 *
 * A process that was away while others armed finds another era and merges before it sends again.
 */
export type RecoveryParts = {
  readonly books: Books;
  readonly session: Session;
  readonly door: Door;
  /** How long others may take to merge before the batches are shown as halted. */
  readonly patienceMs: number;
  readonly onTrouble: (message: string) => void;
  /** The store may have another past by now: what was read from it before is void. */
  readonly forget: () => void;
  /** Before anything of the dead is adopted: a run takes its own batch back, should the ledger have forgotten. */
  readonly retakeRun: () => Promise<void>;
  /** Settles what dead sessions left and forgets them. */
  readonly adopt: (dead: readonly SessionEntry[], merged: ReadonlySet<string>) => Promise<void>;
  /** After a rollback, what is due goes into the queue anew. */
  readonly onArmed: (rolledBack: boolean) => Promise<void>;
};

/** A session may end while it is waited for; its journal is then found at the next full look. */
const REMERGE_MS = 2_000;

const NO_ERA = 'none';

export class Recovery {
  private waitingSince: number | undefined;
  private said = '';
  private rolledBack = false;
  private merged = { run: '', seen: 0, atMs: Number.NEGATIVE_INFINITY };
  isArmed = false;

  constructor(private readonly parts: RecoveryParts) {
    // From here on an empty ledger is not taken for a new one before the journals were looked at.
    if (parts.books.mark.era === '') parts.books.mark.era = NO_ERA;
  }

  /** A script refused: the next round looks. */
  fenced(): void {
    this.isArmed = false;
  }

  /** Answers whether orders may be sent. */
  async tick(): Promise<boolean> {
    const { books } = this.parts;
    const { mark } = books;
    // What was seen when it was asked: the answers that came with this one have already moved the mark on.
    const { seen } = mark;
    const fence = await readFence(books);
    if (fence.armed && mark.era === NO_ERA) this.adopt(fence.era, fence.seq);
    if (fence.armed && fence.era === mark.era && fence.seq >= seen) {
      this.isArmed = true;
      await mergeParked(this.context());
      return true;
    }
    this.isArmed = false;
    await this.recover(fence);
    return this.isArmed;
  }

  /** An ended session's journal, merged into a ledger that is armed: its answers are worth more than doubts.
   *  Answers whose journal was whole. */
  async mergeEnded(dead: readonly SessionEntry[]): Promise<ReadonlySet<string>> {
    const whole = new Set<string>();
    for (const entry of dead) {
      const journal = await journalOf(entry, this.parts.books.realm);
      if (journal === undefined) continue;
      await this.merge(journal, new Set());
      if (journal.damaged === 0) whole.add(entry.id);
    }
    return whole;
  }

  private async recover(fence: Fence): Promise<void> {
    const { books, session, door } = this.parts;
    // While others are waited for, what lies here is not read again at every look.
    const fresh = performance.now() - this.merged.atMs < REMERGE_MS;
    if (fresh && this.merged.run === fence.run && fence.seq >= books.mark.seen)
      if (await this.armAgain(fence.run, this.merged.seen)) return;
    this.parts.forget();
    await door.merging();
    const own = await journalOf(session.entry, books.realm);
    const { ended, forgotten } = await localJournals(books, session.entry);
    // Arming waits for everybody in the registry, so whoever lives here must stand in it.
    for (const entry of forgotten) await registerAgain(books, entry);
    const journals = [...(own === undefined ? [] : [own]), ...ended];
    const seen = Math.max(books.mark.seen, ...journals.map(({ seqSeen }) => seqSeen));
    if (fence.seq < seen) {
      const note = { at: Date.now(), seen, found: fence.seq, by: session.id };
      if (await disarm(books, note)) {
        this.rolledBack = true;
        this.say(`the store has forgotten moves ${fence.seq + 1} to ${seen}; the journals put them back`);
      }
    }
    const floor = await readFloor(session.entry.journal, books.realm);
    if (fence.seq < floor) {
      this.say('the store has forgotten more than the journals of this machine still know');
      return sayDisarmed(books, floorReason(fence.seq, floor));
    }
    let attempts = 0;
    for (const journal of journals)
      attempts += (await this.merge(journal, journal === own ? door.sending() : new Set())).forgotten;
    if (attempts > 0 && !this.rolledBack) {
      this.rolledBack = true;
      const note = { at: Date.now(), seen, found: fence.seq, by: session.id, attempts };
      await noteRollback(books, note);
      this.say(`the store has forgotten ${attempts} attempts; the journals put them back`);
    }
    await mergeParked(this.context());
    await this.parts.retakeRun();
    const merged = new Set(ended.map(({ head }) => head.session));
    const whole = new Set(ended.filter(({ damaged }) => damaged === 0).map(({ head }) => head.session));
    await this.parts.adopt(
      (await listSessions(books)).filter(({ id }) => merged.has(id)),
      whole,
    );
    // A session that a rolled-back registry has forgotten registers again, or nobody would wait for it.
    await session.register(books);
    if (!(await reportMerged(books, fence.run, session.id, seen))) return;
    this.merged = { run: fence.run, seen, atMs: performance.now() };
    await this.armAgain(fence.run, seen);
  }

  /** Answers no when the ledger does not know, or no longer, that this process has merged. */
  private async armAgain(run: string, seen: number): Promise<boolean> {
    const { books, session } = this.parts;
    const answer = await arm(books, run, seen);
    if (answer.answer === 'changed') return true;
    if (answer.answer === 'armed') {
      this.adopt(answer.era, seen);
      this.waitingSince = undefined;
      this.isArmed = true;
      this.merged = { run: '', seen: 0, atMs: Number.NEGATIVE_INFINITY };
      this.say('');
      await this.parts.onArmed(this.rolledBack);
      this.rolledBack = false;
      return true;
    }
    if (answer.sessions.includes(session.id)) return false;
    this.waitingSince ??= performance.now();
    if (performance.now() - this.waitingSince < this.parts.patienceMs) return true;
    const entries = await listSessions(books);
    const missing = entries.filter(({ id }) => id !== session.id && answer.sessions.includes(id));
    this.say(`waiting for the journals of ${missing.map(({ id }) => id).join(', ')}`);
    await sayDisarmed(books, missingReason(missing));
    return true;
  }

  private async merge(journal: SessionJournal, underWay: ReadonlySet<string>): Promise<Merged> {
    const merged = await mergeAttempts({ ...this.context(), underWay }, journal.attempts);
    const { moved, unknown, parked } = merged;
    if (moved + parked > 0)
      this.parts.onTrouble(
        `merged the journal of session ${journal.head.session}: ${moved} orders put right, ${unknown.length} of them unknown, ${parked} of batches that are not in the store`,
      );
    return merged;
  }

  private context(): MergeContext {
    return this.parts.door.mergeContext();
  }

  private adopt(era: string, seen: number): void {
    const { mark } = this.parts.books;
    mark.era = era;
    mark.seen = Math.max(mark.seen, seen);
  }

  private say(message: string): void {
    if (message !== '' && message !== this.said) this.parts.onTrouble(message);
    this.said = message;
  }
}
