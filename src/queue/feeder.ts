import type { Queue } from 'bullmq';
import {
  closeIfIdle,
  feed,
  type OpenBatch,
  openBatches,
  type RealmLedger,
  realmState,
} from '../ledger/index.js';
import { addOrders, type OrderJob } from './queues.js';

export type FeedWindow = {
  /** How many orders may be dispatched at a time. */
  readonly orders: number;
  /** With less room than this, nothing is fed yet. */
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
    /** Asked before each share of a batch; see seals.ts. */
    private readonly mayFeed: (no: string) => Promise<boolean>,
  ) {}

  /** Answers how many orders were fed. */
  async tick(): Promise<number> {
    const { halt, breakerSince } = await realmState(this.ledger);
    const mine = (await openBatches(this.ledger, HORIZON_MS)).filter((batch) => batch.owner === this.owner);
    for (const batch of mine) if (batch.state === 'cancelled') await closeIfIdle(this.ledger, batch.no);
    if (halt !== null || breakerSince !== null) return 0;

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

  /** The batch after the one fed last comes first. */
  private inTurn(batches: readonly OpenBatch[]): OpenBatch[] {
    const next = batches.findIndex(({ no }) => Number(no) > Number(this.last));
    return next <= 0 ? [...batches] : [...batches.slice(next), ...batches.slice(0, next)];
  }
}

const HORIZON_MS = 5_000;
export const FEED_MAX = 512;

function isHungry(batch: OpenBatch): boolean {
  return (batch.state === 'planned' || batch.state === 'running') && batch.cursor <= batch.rows;
}
