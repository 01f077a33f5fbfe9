import type { RealmLedger } from '../ledger/realm-ledger.js';
import { storeClock, TOLERANCE, TOLERANCE_MS } from './two-clocks.js';

/**
 * Watches the store's clock by this process's own. What the scripts judge by the store's clock alone, void marks
 * and the time in which a request that was called unpaid may arrive, a step forward would end early. It is noted in
 * the ledger, for everybody: for another settle time nothing of before is over. After a step that nobody saw, and
 * before the next look, the store's clock is all there is.
 */
export class ClockWatch {
  private last: { readonly storeMs: number; readonly askedMs: number } | undefined;

  constructor(
    private readonly ledger: RealmLedger,
    private readonly settleMs: number,
    private readonly onTrouble: (message: string) => void,
    private readonly storeMs: () => Promise<number> = storeClock(ledger),
    private readonly ownMs: () => number = () => performance.now(),
  ) {}

  async look(): Promise<void> {
    const askedMs = this.ownMs();
    const storeMs = await this.storeMs();
    if (this.last !== undefined) {
      // From the question before to this answer: a slow reply is no step.
      const ownMs = this.ownMs() - this.last.askedMs;
      const aheadMs = storeMs - this.last.storeMs - ownMs;
      if (aheadMs > TOLERANCE_MS + ownMs * TOLERANCE) await this.note(storeMs, aheadMs);
    }
    this.last = { storeMs, askedMs };
  }

  private async note(storeMs: number, aheadMs: number): Promise<void> {
    const { scripts, keyPrefix } = this.ledger;
    const until = Math.floor(storeMs + this.settleMs);
    await scripts.retryWhileAway('note the clock', () =>
      scripts.redis.hset(keyPrefix, 'steppedUntil', until),
    );
    this.onTrouble(
      `the store's clock went ${Math.round(aheadMs / 1000)} s ahead of this process's: what was waiting for the settle time waits for it anew`,
    );
  }
}
