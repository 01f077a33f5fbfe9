import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlmonerError, messageOf } from '../../core/errors/error.js';
import { forgetRefusal, noteRefusal } from '../read/refusals.js';
import type { OrderRef, RealmLedger } from '../realm-ledger.js';

/**
 * Offers the result of an attempt to the ledger until the ledger takes it, whatever the error says: no error proves that
 * a later call fails as well, and a repeated call with the same nonce counts once.
 *
 *   in the slot    the first call goes with the others of the moment; after a refusal the result is offered singly
 *   out of it      an answering store has refused it for `refusedMs`, or the process stops: the worker's slot is free,
 *                  the journal keeps the result, `waiting` lists the order with the error's text, and the result is
 *                  offered every few seconds
 *
 * A store that does not answer is waited for in the slot (see ScriptClient): nothing else could be sent either.
 */
export type Offered = { readonly ref: OrderRef; readonly nonce: string };

type OffersDeps = {
  readonly ledger: RealmLedger;
  readonly session: string;
  readonly onTrouble: (message: string) => void;
  readonly refusedMs: number;
};

/** The result left the slot and is offered in the background. */
export const LEFT = Symbol('left the slot');

const IN_SLOT = { firstMs: 20, mostMs: 1_000 };
const OUT_OF_SLOT_MS = 5_000;

/** Of all realms that this process works for. */
const refusedHere = new Set<Open>();

/** Whether this process holds a result that its store has refused: it must not call its end a clean one. */
export function holdsRefused(): boolean {
  return refusedHere.size > 0;
}

export class Offers {
  /** The results that the ledger has refused at least once, by nonce. */
  private readonly open = new Map<string, Open>();
  private readonly hurrying = new AbortController();
  private readonly ended = new AbortController();

  constructor(private readonly parts: OffersDeps) {
    // Every result that is offered listens: as many as the worker has slots.
    for (const { signal } of [this.hurrying, this.ended]) setMaxListeners(0, signal);
  }

  /** How many results the ledger has refused and not taken yet. */
  get refused(): number {
    return this.open.size;
  }

  /** How many of them have left their slot. */
  get left(): number {
    return [...this.open.values()].filter(({ isLeft }) => isLeft).length;
  }

  has(nonce: string): boolean {
    return this.open.has(nonce);
  }

  /** Answers `LEFT` once it leaves the slot; `late` hears the answer then. Rejects only if the connection is closed. */
  async offer<T>(
    of: Offered,
    /** `singly`: in a call of its own. */
    give: (singly: boolean) => Promise<T>,
    late: (taken: T) => void,
  ): Promise<T | typeof LEFT> {
    let first: unknown;
    try {
      return await give(false);
    } catch (error) {
      first = error;
    }
    const open = new Open(of);
    this.open.set(of.nonce, open);
    refusedHere.add(open);
    const taken = this.untilTaken(open, () => give(true), first);
    const hurry = () => open.leave();
    if (this.hurrying.signal.aborted) hurry();
    this.hurrying.signal.addEventListener('abort', hurry);
    try {
      const answer = await Promise.race([taken, open.left]);
      // A rejection means that the process closes; `stop` has said by then what is not settled.
      if (answer === LEFT) taken.then(late, () => {});
      return answer;
    } finally {
      this.hurrying.signal.removeEventListener('abort', hurry);
    }
  }

  /** The process stops: nothing that is refused holds a slot any more. */
  hurry(): void {
    this.hurrying.abort();
  }

  /** Waits until everything is taken, but no longer than `limitMs`. Answers the results that are not. */
  async drained(limitMs: number): Promise<readonly Unsettled[]> {
    const until = performance.now() + limitMs;
    while (this.open.size > 0 && performance.now() < until) await sleep(DRAIN_LOOK_MS);
    return [...this.open.values()].map(({ of, error }) => ({ ...of, error }));
  }

  /** Nothing is offered any more. */
  end(): void {
    this.ended.abort();
  }

  private async untilTaken<T>(open: Open, give: () => Promise<T>, first: unknown): Promise<T> {
    const { signal } = this.ended;
    let error = first;
    try {
      for (let pauseMs = IN_SLOT.firstMs; ; pauseMs = Math.min(pauseMs * 2, IN_SLOT.mostMs)) {
        if (this.parts.ledger.scripts.isClosed || signal.aborted) throw error;
        await this.noteFailure(open, error);
        const waitMs = open.isLeft ? Math.min(OUT_OF_SLOT_MS, this.parts.refusedMs) : pauseMs;
        await sleep(waitMs, null, { signal, ref: !open.isLeft }).catch(() => {});
        try {
          const taken = await give();
          if (open.isNoted) this.forget(open);
          return taken;
        } catch (again) {
          error = again;
        }
      }
    } finally {
      this.open.delete(open.of.nonce);
      refusedHere.delete(open);
    }
  }

  private async noteFailure(open: Open, error: unknown): Promise<void> {
    const { ledger, session, onTrouble, refusedMs } = this.parts;
    open.error = messageOf(error);
    // Patience has run out on a store that is away: that is no refusal.
    if (!isAlmonerError(error, 'ALM_STORE_UNREACHABLE')) open.refusedAt ??= performance.now();
    onTrouble(
      `the store does not take the result of order ${open.of.ref.no}:${open.of.ref.index}: ${open.error}`,
    );
    const forMs = performance.now() - (open.refusedAt ?? Number.POSITIVE_INFINITY);
    if (forMs >= refusedMs) open.leave();
    if (!open.isLeft || open.noted === open.error) return;
    const noted = await noteRefusal(ledger, session, open.of, open.error).catch((why: unknown) =>
      messageOf(why),
    );
    if (noted === undefined) open.noted = open.error;
    else onTrouble(`the store does not take the note of it either: ${noted}`);
  }

  /** The order has moved on: a note that stays behind names an attempt that nobody asks about. */
  private forget({ of }: Open): void {
    const { ledger, session } = this.parts;
    ledger.scripts.aside(forgetRefusal(ledger, session, of));
  }
}

export type Unsettled = Offered & { readonly error: string };

const DRAIN_LOOK_MS = 50;

/** One result that the ledger has refused. */
class Open {
  error = '';
  noted: string | null = null;
  refusedAt: number | undefined;
  isLeft = false;
  leave: () => void = () => {};
  readonly left: Promise<typeof LEFT>;

  constructor(readonly of: Offered) {
    this.left = new Promise((resolve) => {
      this.leave = () => {
        this.isLeft = true;
        resolve(LEFT);
      };
    });
  }

  get isNoted(): boolean {
    return this.noted !== null;
  }
}
