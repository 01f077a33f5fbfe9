import { setTimeout as sleep } from 'node:timers/promises';
import type { AlmonerError } from '../../core/errors/error.js';
import { type Fence, isCurrent, readFence } from '../read/fence.js';
import { listSessions } from '../read/session-list.js';
import { areAtWork } from '../read/signs.js';
import { noteSeq } from '../realm-ledger.js';
import { arm, sayDisarmed, type WaitedFor } from './fence.js';
import { listFolders } from './folders.js';
import type { Scope } from './local-journals.js';
import { missingReason } from './reasons.js';
import { NO_ONE, NOTHING_RECOVERED, type Recovered, type RecoveryDeps, recover } from './recovery.js';
import { givenUp } from './session.js';
import { settleOverdue, settleOwnStrays } from './strays.js';

/**
 * When a process recovers (recovery.ts says how). A sender looks several times a second, and a command before it judges
 * anything by the ledger.
 *
 *   open      claim and send scripts find the run_id, era and sequence they expect
 *   closed    they do not: this process recovers, as every other does for itself
 *   waiting   a registered session has not merged, or the journals of a data folder were not looked at: frozen,
 *             elsewhere, or its disk is lost. Nothing is sent, `status`, `doctor` and the desk name it, and the next look
 *             tries again
 *   lost      an operator gave this very session up: it ends
 *
 * A process that was away while others opened finds another era and merges before it sends again. One that has just
 * started recovers once, also where the ledger is open: the journals beside it may know what the store forgot.
 */
export type WatchDeps = Omit<RecoveryDeps, 'say'> & {
  /** How long others may take to merge before the batches are shown as halted. */
  readonly patienceMs: number;
  readonly onTrouble: (message: string) => void;
  readonly onLost: (error: AlmonerError) => void;
  /** What the dead left is to be worked on; after a rollback, what is due goes into the queue anew. */
  readonly onRecovered: (recovered: Recovered) => Promise<void>;
};

/** A session may end while it is waited for; its journal is then found at the next full look. */
const REMERGE_MS = 2_000;
const LOOK_AGAIN_MS = 100;
/** A store that is replaced more often than this within seconds is left to the next look. */
const LOOKS_MAX = 20;
const NO_ERA = 'none';
/** Without a sign of a stray: a look reads the record of each order that is being sent. */
const STRAYS_EVERY_MS = 30_000;
const NEVER_MERGED = { run: '', seen: 0, atMs: Number.NEGATIVE_INFINITY };

export class RecoveryWatch {
  private waitingSince: number | undefined;
  private said = '';
  private merged = NEVER_MERGED;
  private underWay: Promise<unknown> = Promise.resolve();
  private rolledBack = false;
  private straysAtMs = Number.NEGATIVE_INFINITY;
  isOpen = false;

  constructor(private readonly parts: WatchDeps) {
    // From here on an empty ledger is not taken for a new one before the journals were looked at.
    if (parts.ledger.mark.era === '') parts.ledger.mark.era = NO_ERA;
  }

  /** A script refused: the next look finds out. */
  fenced(why: string): void {
    this.isOpen = false;
    if (why === 'lost') this.parts.onLost(givenUp(this.session));
  }

  /** Answers whether orders may be sent. */
  tick(): Promise<boolean> {
    return this.alone(async () => {
      const { ledger } = this.parts;
      // What was seen when it was asked: the answers that came with this one have already moved the mark on.
      const known = { ...ledger.mark };
      const fence = await readFence(ledger);
      if (fence.lost) this.fenced('lost');
      else if (isCurrent(fence, known)) {
        this.isOpen = true;
        noteSeq(ledger, fence.seq);
      } else await this.merge(fence);
      return this.isOpen;
    });
  }

  /** Recovers what lies here, whatever the ledger says of itself. */
  now(): Promise<Recovered> {
    return this.alone(() => this.look('every journal'));
  }

  /**
   * Recovers, and waits for others that live and are merging; what only a person can bring back is not waited for.
   * `before`: done before every look, because each may find another store.
   */
  untilOpen(before: () => Promise<void>): Promise<Recovered> {
    return this.alone(async () => {
      for (let [run, until] = ['', 0]; ; ) {
        const fence = await readFence(this.parts.ledger);
        if (run !== fence.run) [run, until] = [fence.run, performance.now() + this.parts.patienceMs];
        await before();
        const found = await this.look('every journal');
        if (found.outcome !== 'waiting') return found;
        if ((await this.othersMerge(run, until, found.seen)) === 'no') return found;
      }
    });
  }

  /** Adopts what sessions left that died since the last look, and what living ones have let go. */
  adoptOrphans(): Promise<void> {
    return this.alone(async () => {
      if (this.isOpen) await this.look('registered sessions');
      if (this.isOpen) await this.settleStrays();
    });
  }

  /** Orders may stand in this process's name that it no longer sends: the next look settles them. */
  strayed(): void {
    this.straysAtMs = Number.NEGATIVE_INFINITY;
  }

  private async settleStrays(): Promise<void> {
    if (performance.now() - this.straysAtMs < STRAYS_EVERY_MS) return;
    this.straysAtMs = performance.now();
    try {
      const open = await settleOwnStrays(this.parts);
      if (open.length > 0) await this.parts.onRecovered({ ...NOTHING_RECOVERED, adopted: open });
      await settleOverdue(this.parts, this.session);
    } catch (error) {
      this.strayed();
      throw error;
    }
  }

  private async merge(fence: Fence): Promise<void> {
    this.isOpen = false;
    // A store that went back may say that this process is sending what it has taken back since.
    this.strayed();
    // While others are waited for, what lies here is not read again at every look.
    const fresh = performance.now() - this.merged.atMs < REMERGE_MS;
    const sameStore = this.merged.run === fence.run && fence.seq >= this.parts.ledger.mark.seen;
    if (fresh && sameStore && (await this.stillWaiting(fence.run))) return;
    await this.look('every journal');
  }

  private async look(scope: Scope): Promise<Recovered> {
    const recovered = await this.recoverHere(scope);
    this.isOpen = recovered.outcome === 'open';
    if (this.isOpen) await this.goOn(recovered);
    if (recovered.outcome === 'waiting') {
      const { run } = await readFence(this.parts.ledger);
      this.merged = { run, seen: recovered.seen, atMs: performance.now() };
      await this.nameMissing(recovered.waitingFor);
    }
    return recovered;
  }

  /** Again while the store is replaced under it: what was merged into the former one is forgotten with it. */
  private async recoverHere(scope: Scope): Promise<Recovered> {
    const parts = { ...this.parts, say: (message: string) => this.say(message) };
    for (let looks = 1; ; looks++) {
      const recovered = await recover(parts, looks === 1 ? scope : 'every journal');
      this.rolledBack ||= recovered.rolledBack;
      if (recovered.outcome !== 'changed') return recovered;
      if (looks === LOOKS_MAX) return { ...recovered, outcome: 'waiting' };
      await sleep(LOOK_AGAIN_MS);
    }
  }

  private async goOn(recovered: Recovered): Promise<void> {
    this.waitingSince = undefined;
    this.merged = NEVER_MERGED;
    this.said = '';
    await this.parts.onRecovered({ ...recovered, rolledBack: this.rolledBack });
    this.rolledBack = false;
  }

  /** Answers no when the ledger does not know, or no longer, that this process has merged. */
  private async stillWaiting(run: string): Promise<boolean> {
    const answer = await arm(this.parts.ledger, run, this.merged.seen);
    if (answer.answer !== 'waiting' || answer.for.sessions.includes(this.session)) return false;
    await this.nameMissing(answer.for);
    return true;
  }

  /** Until somebody has opened this store, or it is another one: then there is something to merge again. */
  private async othersMerge(run: string, until: number, seen: number): Promise<'look' | 'no'> {
    const { ledger } = this.parts;
    for (let looks = 0; ; looks++) {
      const answer = await arm(ledger, run, seen);
      if (answer.answer !== 'waiting') return 'look';
      const { sessions } = answer.for;
      // Somebody has found that the store forgot an opening: everybody merges once more (see merged.lua).
      if (sessions.includes(this.session)) return 'look';
      if (performance.now() > until || sessions.length === 0) return 'no';
      // One that died since is adopted by another look; one that was gone before could not be.
      if (!(await areAtWork(ledger, sessions))) return looks === 0 ? 'no' : 'look';
      await sleep(LOOK_AGAIN_MS);
    }
  }

  private async nameMissing({ sessions, folders }: WaitedFor = NO_ONE): Promise<void> {
    const { ledger, patienceMs } = this.parts;
    this.waitingSince ??= performance.now();
    if (sessions.length + folders.length === 0) return;
    if (performance.now() - this.waitingSince < patienceMs) return;
    const missing = (await listSessions(ledger)).filter(
      ({ id }) => id !== this.session && sessions.includes(id),
    );
    const away = (await listFolders(ledger)).filter(({ id }) => folders.includes(id));
    const names = [...missing.map(({ id }) => `session ${id}`), ...away.map(({ journal }) => journal)];
    this.say(`waiting for the journals of ${names.join(', ')}`);
    await sayDisarmed(ledger, missingReason(missing, away));
  }

  /** One look at a time: two would adopt the same orders. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.underWay.then(work, work);
    this.underWay = next.catch(() => {});
    return next;
  }

  private get session(): string {
    return this.parts.self.session.id;
  }

  private say(message: string): void {
    if (message !== this.said) this.parts.onTrouble(message);
    this.said = message;
  }
}
