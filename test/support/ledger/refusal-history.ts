import type { Rate } from '../../../src/core/profile.js';
import { answerSlots, forgetPace, readPaceState, UNLIMITED } from '../../../src/ledger/pace/pace.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

export const HISTORY_RATE: Rate = { requests: 50, windowMs: 1_000 };

/**
 * Feeds the real pace scripts with answers at chosen times: when each request was granted, and whether the realm
 * refused it.
 */
export class RefusalHistory {
  private readonly from = Date.now();
  private slot = 0;
  readonly said: string[] = [];

  constructor(
    readonly ledger: RealmLedger,
    private readonly rate = HISTORY_RATE,
    /** How long the realm asks the sender to wait with every refusal. */
    private readonly holdMs = 1_000,
  ) {}

  /** Adds `count` requests from `fromMs` on, `apartMs` apart; with `end: 'refused'` the realm refuses the last one. */
  async requests(count: number, fromMs: number, apartMs: number, end: 'refused' | 'passed'): Promise<void> {
    const { keyPrefix, scripts } = this.ledger;
    for (let at = 0; at < count; at++) {
      const slot = String(this.slot++);
      await scripts.redis.zadd(`${keyPrefix}:pace:s`, this.from + fromMs + at * apartMs, slot);
      await scripts.redis.hset(`${keyPrefix}:pace`, 'k', this.slot);
      const refused = end === 'refused' && at === count - 1;
      const answer = refused
        ? ({ became: 'refused', holdMs: this.holdMs } as const)
        : ({ became: 'passed', holdMs: null } as const);
      const nothing = { limit: null, remaining: null, windowMs: null };
      const allowed = { ...this.rate, reserve: 0 };
      const learnt = await answerSlots(this.ledger, allowed, [{ slot, ...answer, ...nothing }]);
      this.said.push(...learnt.map((one) => (one.what === 'limit' ? `limit ${one.requests}` : one.what)));
    }
  }

  /**
   * A realm that accepts 25 requests in a window while 50 a second are sent: half a second of requests, a refusal, a
   * second of waiting.
   */
  async halved(cycles: number): Promise<void> {
    for (let cycle = 0; cycle < cycles; cycle++)
      await this.requests(26, 1_000 + cycle * 1_500, 20, 'refused');
  }

  async limit(): Promise<number | null> {
    const { learnt } = await readPaceState(this.ledger, this.rate);
    return learnt?.requests ?? null;
  }

  forget(): Promise<void> {
    return forgetPace(this.ledger, this.rate);
  }
}

/** An answer with headers that name the realm's limit; `holdMs` also asks the sender to wait. */
export async function sayLimit(
  ledger: RealmLedger,
  configured: Rate | null,
  said: Rate,
  holdMs: number | null,
): Promise<void> {
  const answer = { slot: '-1', became: 'passed', limit: said.requests, windowMs: said.windowMs } as const;
  const allowed = configured === null ? UNLIMITED : { ...configured, reserve: 0 };
  await answerSlots(ledger, allowed, [{ ...answer, holdMs, remaining: null }]);
}
