import { LRUCache } from 'lru-cache';
import type { RealmLedger } from '../ledger/realm-ledger.js';

/**
 * How long ago something was, by the store's clock and this process's monotonic clock together. A wall
 * clock may be stepped and a monotonic one stands still while a machine sleeps; where the two tell different
 * stories, nobody knows, and the caller doubts. A process that was restarted begins to count anew: that only
 * makes it wait longer.
 */
export type Elapsed = { readonly ms: number; readonly agree: boolean };

export type Moment = { readonly storeMs: number; readonly ownMs: number };

/** What was dropped is counted anew: that only makes it wait longer as well. */
const STARTS_MAX = 20_000;

export class TwoClocks {
  private readonly starts = new LRUCache<string, Moment>({ max: STARTS_MAX });

  constructor(
    /** The store's clock; `storeClock` asks a real one. */
    readonly storeMs: () => Promise<number>,
    private readonly ownMs: () => number = () => performance.now(),
  ) {}

  async now(): Promise<Moment> {
    return { storeMs: await this.storeMs(), ownMs: this.ownMs() };
  }

  /** The shorter of the two, so that waiting is never cut short. */
  async elapsed(since: Moment): Promise<Elapsed> {
    const now = await this.now();
    const store = now.storeMs - since.storeMs;
    const own = now.ownMs - since.ownMs;
    return { ms: Math.min(store, own), agree: Math.abs(store - own) <= TOLERANCE_MS + own * TOLERANCE };
  }

  /** Since it was asked about for the first time. */
  async since(what: string): Promise<Elapsed> {
    const start = this.starts.get(what);
    if (start !== undefined) return this.elapsed(start);
    this.starts.set(what, await this.now());
    return { ms: 0, agree: true };
  }

  forget(what: string): void {
    this.starts.delete(what);
  }
}

export function storeClock({ scripts }: RealmLedger): () => Promise<number> {
  return async () => {
    const [seconds, micros] = await scripts.retryWhileAway('read the clock', () => scripts.redis.time());
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };
}

/** A reply may be slow and clocks are slewed; a step is larger. */
export const TOLERANCE_MS = 2_000;
export const TOLERANCE = 0.01;
