import type { Books } from '../ledger/books.js';

/**
 * How long ago something was, by the store's clock and this process's monotonic clock together. A wall
 * clock may be stepped and a monotonic one stands still while a machine sleeps; where the two tell different
 * stories, nobody knows, and the caller doubts. A process that was restarted begins to count anew: that only
 * makes it wait longer.
 */
export type Elapsed = { readonly ms: number; readonly agree: boolean };

export class TwoClocks {
  private readonly starts = new Map<string, { readonly storeMs: number; readonly ownMs: number }>();

  constructor(
    /** The store's clock; `storeClock` asks a real one. */
    readonly storeMs: () => Promise<number>,
    private readonly ownMs: () => number = () => performance.now(),
  ) {}

  /** Since it was asked about for the first time; the shorter of the two, so that waiting is never cut short. */
  async since(what: string): Promise<Elapsed> {
    const now = { storeMs: await this.storeMs(), ownMs: this.ownMs() };
    const start = this.starts.get(what);
    if (start === undefined) {
      this.starts.set(what, now);
      return { ms: 0, agree: true };
    }
    const store = now.storeMs - start.storeMs;
    const own = now.ownMs - start.ownMs;
    return { ms: Math.min(store, own), agree: Math.abs(store - own) <= TOLERANCE_MS + own * TOLERANCE };
  }

  forget(what: string): void {
    this.starts.delete(what);
  }
}

export function storeClock({ caller }: Books): () => Promise<number> {
  return async () => {
    const [seconds, micros] = await caller.patiently('read the clock', () => caller.redis.time());
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };
}

/** A reply may be slow and clocks are slewed; a step is larger. */
const TOLERANCE_MS = 2_000;
const TOLERANCE = 0.01;
