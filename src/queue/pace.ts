import { setTimeout as sleep } from 'node:timers/promises';
import type { OutcomeKind, RateHeaders } from '../core/classify.js';
import { PACE } from '../core/pace-constants.js';
import { RATE_REQUESTS_MAX, RATE_WINDOW_MS_MAX, type RealmProfile } from '../core/profile.js';
import { type RealmLedger, sending } from '../ledger/index.js';
import { ALONE_NOTICE, FREE_NOTICE, limitNotice, othersNotice } from '../words/pace.js';

/**
 * The pace of a realm, shared by all processes through one script (docs/pace.md). Requests are limited,
 * not jobs: whoever makes a request, read or write, takes a slot and says what the answer was.
 * One asker per process: the others queue behind it in the order they came, and it takes as many slots at a
 * time as are due and wanted.
 */
export type Slot = { answered(answer?: Answer): void };

/** What an answer tells the pace; a write's outcome and a read's facts are both of this shape. */
export type Answer = {
  readonly status: number | null;
  /** What a write came to, in case this realm says "slow down" in its own way. */
  readonly kind?: OutcomeKind;
  readonly retryAfterMs: number | null;
  readonly rate: RateHeaders | null;
};

type Note = Parameters<typeof sending.pace.answered>[2][number];
type Learnt = Awaited<ReturnType<typeof sending.pace.answered>>[number];

type Waiter = {
  readonly wanted: () => boolean;
  readonly resolve: (slot: Slot | undefined) => void;
  readonly reject: (error: unknown) => void;
};

export class Pace {
  private readonly waiting: Waiter[] = [];
  private asking = false;
  private notes: Note[] = [];
  private told = { at: Number.NEGATIVE_INFINITY, limit: 0 };
  /** Until then the realm has said nothing that limits it, to any process, and no slots are asked for. */
  private freeUntil = Number.NEGATIVE_INFINITY;
  /** When this process was last told something that limits it. */
  private heardAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly ledger: RealmLedger,
    private readonly profile: Pick<RealmProfile, 'rate' | 'rateReserve' | 'timeouts' | 'attempts'>,
    private readonly onNotice: (message: string) => void = () => {},
    /** Whose slots are free once its death is proven; without one they count until their time-out. */
    private readonly session = '',
  ) {}

  get limited(): boolean {
    return this.profile.rate !== null;
  }

  /** Resolves when a request may leave, or with undefined when it is no longer wanted. */
  take(wanted: () => boolean = () => true): Promise<Slot | undefined> {
    if (performance.now() < this.freeUntil) return Promise.resolve(wanted() ? this.slot(NO_SLOT) : undefined);
    return new Promise((resolve, reject) => {
      this.waiting.push({ wanted, resolve, reject });
      if (!this.asking) void this.ask();
    });
  }

  private async ask(): Promise<void> {
    this.asking = true;
    try {
      for (;;) {
        this.dropUnwanted();
        if (this.waiting.length === 0) break;
        const askedAt = performance.now();
        const taken = await sending.pace.take(this.ledger, this.allowed(), {
          // It counts as under way for as long as it may leave late.
          timeoutMs: this.profile.timeouts.totalMs + 2 * PACE.FRESH_MS,
          wanted: Math.min(this.waiting.length, PACE.SLOTS_AT_ONCE),
          session: this.session,
        });
        const isFresh = performance.now() - askedAt < PACE.FRESH_MS;
        if (taken.answer === 'go') for (const slot of taken.slots) this.grant(slot, isFresh);
        else if (taken.answer === 'free') this.letGo(askedAt);
        else await sleep(Math.min(taken.ms, PACE.WAIT_STEP_MS));
      }
    } catch (error) {
      for (const waiter of this.waiting.splice(0)) waiter.reject(error);
    }
    this.asking = false;
  }

  /** No limit is configured, none was learnt, and no hold lasts; others may hear of one at any time. */
  private letGo(askedAt: number): void {
    if (this.heardAt >= askedAt) return;
    this.freeUntil = askedAt + PACE.FREE_MS;
    for (const waiter of this.waiting.splice(0)) waiter.resolve(this.slot(NO_SLOT));
  }

  private dropUnwanted(): void {
    for (let at = this.waiting.length - 1; at >= 0; at--) {
      if (this.waiting[at]?.wanted() !== false) continue;
      for (const waiter of this.waiting.splice(at, 1)) waiter.resolve(undefined);
    }
  }

  /** Those who come while a question is under way stand behind those it was asked for. */
  private grant(value: string, isFresh: boolean): void {
    const slot = this.slot(value);
    const waiter = isFresh ? this.waiting.shift() : undefined;
    if (waiter === undefined) slot.answered();
    else waiter.resolve(slot);
  }

  private allowed(): typeof sending.pace.unlimited {
    const { rate, rateReserve } = this.profile;
    return rate === null
      ? sending.pace.unlimited
      : { ...rate, reserve: Math.min(rateReserve, rate.requests - 1) };
  }

  private slot(slot: string): Slot {
    return { answered: (answer) => this.note(slot, answer) };
  }

  private note(slot: string, answer: Answer | undefined): void {
    const refused = answer?.status === 429 || answer?.kind === 'slow-down';
    const hold = answer?.retryAfterMs ?? (refused ? this.profile.attempts.backoffMs : null);
    const headers = this.newsOf(answer, refused);
    if (!this.limited && (hold !== null || refused || headers !== null)) {
      this.heardAt = performance.now();
      this.freeUntil = this.heardAt;
    } else if (slot === NO_SLOT) return;
    // Plain answers of one moment share a call; what holds the realm back is known before the next question.
    const urgent = hold !== null || refused;
    if (this.notes.length === 0 && !urgent)
      this.ledger.scripts.aside(new Promise(setImmediate).then(() => this.tell()));
    const { limit = null, remaining = null, windowMs = null } = headers ?? {};
    const became = refused ? 'refused' : hasPassed(answer) ? 'passed' : '';
    this.notes.push({ slot, holdMs: hold, became, limit, remaining, windowMs });
    if (urgent) this.ledger.scripts.aside(this.tell());
  }

  /** Every answer says the same of the limit; a few a window are enough, and any that says something new. */
  private newsOf(answer: Answer | undefined, refused: boolean): RateHeaders | null {
    const headers = answer?.rate ?? null;
    if (headers === null || headers.limit === null || headers.limit === 0) return null;
    // A limit without a window says nothing to somebody who was told of none, and one of no length nothing to anybody.
    if (headers.windowMs === 0 || (!this.limited && headers.windowMs === null)) return null;
    // More than can be configured limits nothing that is sent here.
    if (headers.limit > RATE_REQUESTS_MAX || (headers.windowMs ?? 0) > RATE_WINDOW_MS_MAX) return null;
    const now = performance.now();
    const old = now - this.told.at >= this.allowed().windowMs / PACE.TOLD_A_WINDOW;
    if (!old && !refused && this.told.limit === headers.limit) return null;
    this.told = { at: now, limit: headers.limit };
    return headers;
  }

  /** Nobody who was answered waits for it: a lost note only makes the slot count as answered at its time-out. */
  private async tell(): Promise<void> {
    const notes = this.notes;
    if (notes.length === 0) return;
    this.notes = [];
    for (const learnt of await sending.pace.answered(this.ledger, this.allowed(), notes))
      this.onNotice(this.noticeOf(learnt));
  }

  /** In the words of the log. The same stands in `status` for as long as it holds. */
  private noticeOf(learnt: Learnt): string {
    switch (learnt.what) {
      case 'limit':
        return limitNotice(learnt, learnt.by, this.profile.rate);
      case 'others':
        return othersNotice(learnt.requests);
      case 'free':
        return FREE_NOTICE;
      case 'alone':
        return ALONE_NOTICE;
    }
  }
}

/** Servers that fail, and those before them, answer without counting. */
const hasPassed = (answer: Answer | undefined) =>
  answer !== undefined && answer.status !== null && answer.status < 500;

const NO_SLOT = '-1';
