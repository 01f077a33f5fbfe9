import { setTimeout as sleep } from 'node:timers/promises';
import type { RealmProfile } from '../core/profile.js';
import type { Books } from '../ledger/books.js';
import { texts } from '../ledger/caller.js';

/**
 * The pace of a realm, shared by all processes through one script (lua/take-slot). Requests are limited,
 * not jobs: whoever makes a request, read or write, takes a slot and says when it was answered.
 * One asker per process: the others queue behind it in the order they came.
 */
export type Slot = { answered(retryAfterMs?: number | null): void };

export class Pace {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly books: Books,
    private readonly profile: Pick<RealmProfile, 'rate' | 'rateReserve' | 'timeouts'>,
  ) {}

  get limited(): boolean {
    return this.profile.rate !== null;
  }

  /** Resolves when a request may leave, or with undefined when it is no longer wanted. */
  take(wanted: () => boolean = () => true): Promise<Slot | undefined> {
    const mine = this.turn.then(() => this.ask(wanted));
    this.turn = mine.catch(() => {});
    return mine;
  }

  private async ask(wanted: () => boolean): Promise<Slot | undefined> {
    const { rate, rateReserve, timeouts } = this.profile;
    // Without a limit there is nothing to count, only a Retry-After to respect.
    const requests = rate === null ? UNLIMITED.requests : Math.max(1, rate.requests - rateReserve);
    const windowMs = rate?.windowMs ?? UNLIMITED.windowMs;
    if (rate === null && !this.holding) return wanted() ? this.freeSlot() : undefined;
    while (wanted()) {
      const [answer, value = ''] = texts(
        await this.books.caller.script('take-slot', this.books.realm, [requests, windowMs, timeouts.totalMs]),
      );
      if (answer === 'go') {
        this.holding = false;
        return rate === null ? this.freeSlot() : this.slot(value);
      }
      await sleep(Math.min(Number(value), WAIT_STEP_MS));
    }
    return undefined;
  }

  /** Set by a Retry-After on a realm without a limit: the next slots ask until the hold is over. */
  private holding = false;

  private freeSlot(): Slot {
    return {
      answered: (retryAfterMs) => {
        if (retryAfterMs == null) return;
        this.holding = true;
        this.tell('-1', retryAfterMs);
      },
    };
  }

  private slot(number: string): Slot {
    let told = false;
    return {
      answered: (retryAfterMs) => {
        if (told) return;
        told = true;
        this.tell(number, retryAfterMs ?? null);
      },
    };
  }

  private tell(slot: string, retryAfterMs: number | null): void {
    // Not awaited: a lost note only makes the slot count as answered at its time-out.
    void this.books.caller
      .script('answer-slot', this.books.realm, [slot, retryAfterMs === null ? '' : Math.ceil(retryAfterMs)])
      .catch(() => {});
  }
}

const UNLIMITED = { requests: 1_000_000, windowMs: 1000 } as const;
/** Waiting is cut into steps so that a pause or shutdown is noticed while waiting for a slow pace. */
const WAIT_STEP_MS = 200;
