import type { AlmonerError } from '../core/errors/error.js';
import {
  arm,
  type Fence,
  givenUp,
  isCurrent,
  listSessions,
  noteSeq,
  type Recovered,
  type RecoveryDeps,
  readFence,
  recover,
  type Session,
  sayDisarmed,
  settleOverdue,
  settleOwnStrays,
} from '../ledger/index.js';
import { missingReason } from './reasons.js';

/**
 * Watches over a sending process's right to send.
 *
 *   armed      claim and send scripts find the run_id, era and sequence they expect
 *   disarmed   they do not: this process recovers (see ledger/sessions/recovery.ts), as every other does for itself
 *   missing    a registered session has not merged: frozen, elsewhere, or its disk is lost. Nothing is sent,
 *              `status`, `doctor` and the desk name it, and the next look tries again
 *   lost       an operator gave this very session up: it ends
 *
 * A process that was away while others armed finds another era and merges before it sends again. One that has just
 * started recovers once, also where the ledger is armed: the journals beside it may know what the store forgot.
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

const NO_ERA = 'none';

/** Without a sign of a stray: a look reads the record of each order that is being sent. */
const STRAYS_EVERY_MS = 30_000;

const NOTHING_RECOVERED: Recovered = {
  armed: true,
  seen: 0,
  rolledBack: false,
  stopped: null,
  waitingFor: [],
  moved: 0,
  unknown: 0,
  adopted: [],
  dead: [],
};

export class Recovery {
  private waitingSince: number | undefined;
  private said = '';
  private merged = { run: '', seen: 0, atMs: Number.NEGATIVE_INFINITY };
  private underWay: Promise<unknown> = Promise.resolve();
  private rolledBack = false;
  private straysAtMs = Number.NEGATIVE_INFINITY;
  isArmed = false;

  constructor(private readonly parts: WatchDeps) {
    // From here on an empty ledger is not taken for a new one before the journals were looked at.
    if (parts.ledger.mark.era === '') parts.ledger.mark.era = NO_ERA;
  }

  /** A script refused: the next look finds out. */
  fenced(why: string): void {
    this.isArmed = false;
    if (why === 'lost') this.parts.onLost(givenUp(this.session.id));
  }

  /** Answers whether orders may be sent. */
  tick(): Promise<boolean> {
    return this.alone(async () => {
      const { ledger } = this.parts;
      const { mark } = ledger;
      // What was seen when it was asked: the answers that came with this one have already moved the mark on.
      const known = { ...mark };
      const fence = await readFence(ledger);
      if (fence.lost) this.fenced('lost');
      else if (isCurrent(fence, known)) {
        this.isArmed = true;
        noteSeq(ledger, fence.seq);
      } else await this.merge(fence);
      return this.isArmed;
    });
  }

  /** Adopts what sessions left that died since the last look, and what living ones have let go. */
  adoptOrphans(): Promise<void> {
    return this.alone(async () => {
      if (this.isArmed) await this.lookOnce(false);
      if (this.isArmed) await this.settleStrays();
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
      await settleOverdue(this.parts, this.session.id);
    } catch (error) {
      this.strayed();
      throw error;
    }
  }

  private async merge(fence: Fence): Promise<void> {
    this.isArmed = false;
    // A store that went back may say that this process is sending what it has taken back since.
    this.strayed();
    // While others are waited for, what lies here is not read again at every look.
    const fresh = performance.now() - this.merged.atMs < REMERGE_MS;
    const sameStore = this.merged.run === fence.run && fence.seq >= this.parts.ledger.mark.seen;
    if (fresh && sameStore && (await this.armAgain(fence.run))) return;
    await this.lookOnce(true);
  }

  private async lookOnce(all: boolean): Promise<void> {
    const recovered = await recover({ ...this.parts, say: (message) => this.say(message) }, all);
    this.isArmed = recovered.armed;
    this.rolledBack ||= recovered.rolledBack;
    if (recovered.armed) return this.goOn(recovered);
    if (recovered.stopped !== null) return;
    const { run } = await readFence(this.parts.ledger);
    this.merged = { run, seen: recovered.seen, atMs: performance.now() };
    await this.nameMissing(recovered.waitingFor);
  }

  private async goOn(recovered: Recovered): Promise<void> {
    this.waitingSince = undefined;
    this.merged = { run: '', seen: 0, atMs: Number.NEGATIVE_INFINITY };
    this.said = '';
    await this.parts.onRecovered({ ...recovered, rolledBack: this.rolledBack });
    this.rolledBack = false;
  }

  /** Answers no when the ledger does not know, or no longer, that this process has merged. */
  private async armAgain(run: string): Promise<boolean> {
    const { ledger } = this.parts;
    const { seen } = this.merged;
    const answer = await arm(ledger, run, seen);
    if (answer.answer === 'changed' || answer.answer === 'armed') return false;
    if (answer.sessions.includes(this.session.id)) return false;
    await this.nameMissing(answer.sessions);
    return true;
  }

  private async nameMissing(sessions: readonly string[]): Promise<void> {
    const { ledger, patienceMs } = this.parts;
    this.waitingSince ??= performance.now();
    if (sessions.length === 0 || performance.now() - this.waitingSince < patienceMs) return;
    const entries = await listSessions(ledger);
    const missing = entries.filter(({ id }) => id !== this.session.id && sessions.includes(id));
    this.say(`waiting for the journals of ${missing.map(({ id }) => id).join(', ')}`);
    await sayDisarmed(ledger, missingReason(missing));
  }

  /** One look at a time: two would adopt the same orders. */
  private alone<T>(work: () => Promise<T>): Promise<T> {
    const next = this.underWay.then(work, work);
    this.underWay = next.catch(() => {});
    return next;
  }

  private get session(): Session {
    return this.parts.self.session;
  }

  private say(message: string): void {
    if (message !== this.said) this.parts.onTrouble(message);
    this.said = message;
  }
}
