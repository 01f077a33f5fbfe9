import type { Queue } from 'bullmq';
import type { RealmProfile } from '../core/profile.js';
import { type RealmLedger, reading, sending } from '../ledger/index.js';
import { addOrders, type OrderJob } from './queues.js';

export type FeedWindow = {
  /** How many orders may be dispatched at a time. */
  readonly orders: number;
  /** Nothing is fed yet where there is less room than this. */
  readonly refillAt: number;
  /** How many orders a job may carry, given how many there are to share out. */
  readonly inAJob: (fed: number) => number;
};

type FeederParts = {
  readonly ledger: RealmLedger;
  readonly queue: Queue<OrderJob>;
  readonly mine: sending.Deliverer;
  readonly window: FeedWindow;
  /** Asked before each share of a batch; see batches.ts. */
  readonly mayFeed: (no: string) => Promise<boolean>;
  readonly isQuiet: () => boolean;
};

/**
 * Keeps a bounded window of orders in the queue, taking batches in turn, so that a large import does not
 * block a small one and Redis never holds a job per row. The ledger moves first: an order is noted as due
 * before its job is added, and the sweeper finds those whose job never came. Only batches that may have orders
 * to feed are asked for, however many are open.
 */
export class Feeder {
  private fullUntilMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly parts: FeederParts) {}

  /** Answers how many orders were fed. */
  async tick(): Promise<number> {
    const { ledger, mine, window } = this.parts;
    if (performance.now() < this.fullUntilMs) return 0;
    if ((await reading.realmState.whyNot(ledger)) !== null) return 0;
    const waiting = await sending.deliveries.toFeed(ledger, mine, BATCHES_MAX);
    if (waiting.length === 0) return 0;
    // Quiet hours hold what is sent. A batch that begins in them meets its set time, and its approval does not end over a long weekend.
    if (this.parts.isQuiet()) return this.feed(waiting, 0);
    const room = window.orders - (await sending.deliveries.within(ledger, mine, HORIZON_MS, window.orders));
    if (room < window.refillAt) {
      // A window that is refilled by the hundreds lasts longer than that.
      if (window.refillAt > 1) this.fullUntilMs = performance.now() + FULL_MS;
      return 0;
    }
    return this.feed(waiting.slice(0, room), room);
  }

  private async feed(numbers: readonly string[], room: number): Promise<number> {
    const { ledger, queue, mine, window } = this.parts;
    const may = await Promise.all(numbers.map((no) => this.parts.mayFeed(no)));
    const batches = numbers.filter((_, at) => may[at]);
    if (batches.length === 0) return 0;
    const shares = batches.map((no) => [no, FEED_MAX] as const);
    const indexes = await sending.deliveries.feed(ledger, shares, room, mine.owner);
    const fed = indexes.reduce((sum, { length }) => sum + length, 0);
    const orders = batches.map((no, at) => ({ no, indexes: indexes[at] ?? [] }));
    await addOrders(queue, orders, 0, { most: window.inAJob(fed) });
    return fed;
  }
}

const HORIZON_MS = 5_000;
const FULL_MS = 100;
const FEED_MAX = 1_024;
/** Batches to a look: the next look takes those that come after. */
const BATCHES_MAX = 512;

type Size = { readonly profile: RealmProfile; readonly concurrency: number };

/** Never more orders at a time than Redis likes; three refills, so that nobody waits while one is made. */
const WINDOW_MAX = 3 * FEED_MAX;

/**
 * BullMQ's work for a job costs as much as the ledger's for an order, so where many leave in a second a job
 * carries several, worked one after the other, and the window is refilled by the hundreds. Few enough that
 * everybody has something to do: twenty orders are twenty jobs. Behind a slower pace, and where orders wait
 * for each other's members, each stays alone.
 */
export function feedWindow({ profile, concurrency }: Size): FeedWindow {
  // About a minute's worth at the pace, and at least twice the concurrency.
  const orders = Math.max(2 * concurrency, Math.min(WINDOW_MAX, Math.ceil(perSecond(profile) * 60)));
  if (perSecond(profile) < FAST_PER_SECOND || profile.certainty === 'readback')
    return { orders, refillAt: 1, inAJob: () => 1 };
  return {
    orders,
    refillAt: Math.min(FEED_MAX, Math.ceil(orders / 3)),
    inAJob: (fed) => Math.max(1, Math.min(ORDERS_IN_A_JOB_MAX, Math.floor(fed / concurrency))),
  };
}

const ORDERS_IN_A_JOB_MAX = 8;
const FAST_PER_SECOND = 100;

function perSecond({ rate }: RealmProfile): number {
  return rate === null ? Number.POSITIVE_INFINITY : (rate.requests / rate.windowMs) * 1000;
}

/** More deliveries under way than the pace can use would only wait for slots, and waste them on a pause. */
export function usefulConcurrency({ profile, concurrency }: Size): number {
  return Math.max(1, Math.min(concurrency, 2 + Math.ceil(perSecond(profile) * LATENCY_ALLOWED_S)));
}

const LATENCY_ALLOWED_S = 2;
