import type { Queue } from 'bullmq';
import type { RealmProfile } from '../core/profile.js';
import {
  closeIfIdle,
  feed,
  isHeldBack,
  type OpenBatch,
  openBatches,
  type RealmLedger,
} from '../ledger/index.js';
import { addOrders, type OrderJob } from './queues.js';

export type FeedWindow = {
  /** How many orders may be dispatched at a time. */
  readonly orders: number;
  /** Nothing is fed yet where there is less room than this. */
  readonly refillAt: number;
  /** How many orders a job may carry, given how many there are to share out. */
  readonly inAJob: (fed: number) => number;
};

/**
 * Keeps a bounded window of orders in the queue, taking batches in turn, so that a large import does not
 * block a small one and Redis never holds a job per row. The ledger moves first: an order is noted as due
 * before its job is added, and the sweeper finds those whose job never came.
 */
export class Feeder {
  private last = '';

  constructor(
    private readonly ledger: RealmLedger,
    private readonly queue: Queue<OrderJob>,
    private readonly owner: string,
    private readonly window: FeedWindow,
    /** Asked before each share of a batch; see batches.ts. */
    private readonly mayFeed: (no: string) => Promise<boolean>,
    private readonly isQuiet: () => boolean = () => false,
  ) {}

  /** Answers how many orders were fed. */
  async tick(): Promise<number> {
    const mine = (await openBatches(this.ledger, HORIZON_MS)).filter((batch) => batch.owner === this.owner);
    for (const batch of mine) if (batch.state === 'cancelled') await closeIfIdle(this.ledger, batch.no);
    if (await isHeldBack(this.ledger)) return 0;
    if (this.isQuiet()) return this.onlyBegin(mine);

    const busy = mine
      .filter(({ state }) => state === 'running')
      .reduce((sum, { dueSoon }) => sum + dueSoon, 0);
    const hungry = this.inTurn(mine.filter(isHungry));
    let room = this.window.orders - busy;
    if (room < this.window.refillAt) return 0;
    let fed = 0;
    for (const [position, batch] of hungry.entries()) {
      const share = Math.min(FEED_MAX, Math.ceil(room / (hungry.length - position)));
      if (share <= 0) break;
      if (!(await this.mayFeed(batch.no))) continue;
      const indexes = await feed(this.ledger, batch.no, share, this.owner);
      await addOrders(this.queue, batch.no, indexes, 0, this.window.inAJob(indexes.length));
      room -= indexes.length;
      fed += indexes.length;
      if (indexes.length > 0) this.last = batch.no;
    }
    return fed;
  }

  /** Quiet hours hold what is sent. That a batch begins then meets its time, and its go does not end over a long weekend. */
  private async onlyBegin(batches: readonly OpenBatch[]): Promise<number> {
    for (const { no, state } of batches)
      if (state === 'planned' && (await this.mayFeed(no))) await feed(this.ledger, no, 0, this.owner);
    return 0;
  }

  /** The batch after the one fed last comes first. */
  private inTurn(batches: readonly OpenBatch[]): OpenBatch[] {
    const next = batches.findIndex(({ no }) => Number(no) > Number(this.last));
    return next <= 0 ? [...batches] : [...batches.slice(next), ...batches.slice(0, next)];
  }
}

const HORIZON_MS = 5_000;
const FEED_MAX = 512;

function isHungry(batch: OpenBatch): boolean {
  return (batch.state === 'planned' || batch.state === 'running') && batch.cursor <= batch.rows;
}

type Size = { readonly profile: RealmProfile; readonly concurrency: number };

/** Never more orders at a time than Redis likes. */
const WINDOW_MAX = 2_000;

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
    refillAt: Math.min(FEED_MAX, Math.ceil(orders / 4)),
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
