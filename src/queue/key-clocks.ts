import { LRUCache } from 'lru-cache';
import type { Resend } from '../core/decide.js';
import type { OrderId } from '../core/ids.js';
import type { Begun, KeyAge } from '../ledger/sending.js';
import type { Elapsed, Moment, TwoClocks } from './two-clocks.js';

/**
 * What this process knows by its own clock of the orders that it saw unknown: since when their key is in use,
 * and since when an attempt under it stays unanswered. It is about that very key: an order may end elsewhere
 * and come back under another one.
 */
type Seen = { readonly keyNumber: number; readonly first: Moment; readonly unanswered: Moment };

export type KnownKey = NonNullable<KeyAge['known']> & { readonly unanswered: Elapsed };

/** Of one that was dropped no more is known than after a restart. */
const SEEN_MAX = 20_000;

export class KeyClocks {
  private readonly seen = new LRUCache<OrderId, Seen>({ max: SEEN_MAX });

  constructor(private readonly clocks: TwoClocks) {}

  async of(order: OrderId): Promise<KnownKey | null> {
    const seen = this.seen.get(order);
    if (seen === undefined) return null;
    const age = await this.clocks.elapsed(seen.first);
    const unanswered = await this.clocks.elapsed(seen.unanswered);
    return { keyNumber: seen.keyNumber, ms: age.agree ? age.ms : null, unanswered };
  }

  /** An attempt that is unknown. From one without an answer the settle time counts anew, the life of its key does not. */
  async unknown(order: OrderId, { keyNumber, resend }: Begun, answered: boolean): Promise<void> {
    const now = await this.clocks.now();
    const seen = resend ? this.seen.get(order) : undefined;
    const known = seen?.keyNumber === keyNumber ? seen : { first: now, unanswered: now };
    this.seen.set(order, { ...known, keyNumber, ...(!answered && { unanswered: now }) });
  }

  forget(order: OrderId): void {
    this.seen.delete(order);
  }
}

/** Whether what stayed unanswered before a resend can still arrive, by the store's clock and by this process's own. */
export function settleTime(begun: Begun, known: KnownKey | null, settleMs: number): Resend {
  const own = known?.keyNumber === begun.keyNumber ? known.unanswered : NEVER_SEEN;
  const byStoreMs = begun.sentAt - (begun.unansweredUntil ?? begun.firstSentAt);
  const settleLeftMs = Math.max(0, settleMs - Math.min(own.ms, byStoreMs));
  if (!own.agree || byStoreMs < 0) return { settleTime: 'clocks-disagree', settleLeftMs };
  return { settleTime: settleLeftMs > 0 ? 'not-yet' : 'over', settleLeftMs };
}

/** A process that sees an unknown for the first time begins to count: it only waits longer. */
const NEVER_SEEN: Elapsed = { ms: 0, agree: true };
