import type { Queue } from 'bullmq';
import { LONGEST_PAUSE_MS } from '../core/decide.js';
import { type RealmLedger, reading, sending, storeNowMs } from '../ledger/index.js';
import { addOrders, carriedBy, type OrderJob } from './queues.js';

/**
 * A job that BullMQ lost, failed or ended says nothing about its order. What is due and has no live job is
 * dispatched again under a new generation.
 */
export class Sweeper {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly queue: Queue<OrderJob>,
    private readonly mine: sending.Deliverer,
  ) {}

  private ticks = 0;

  async tick(): Promise<number> {
    const { ledger, mine } = this;
    if ((await reading.realmState.whyNot(ledger)) !== null) return 0;
    const everyBatch = this.ticks % EVERY_BATCH === 0;
    this.ticks += 1;
    const late = await sending.deliveries.overdue(ledger, mine, LATE_MS, { most: LATE_MAX, everyBatch });
    if (late.length === 0) return 0;
    const carried = new Set(
      (await this.liveJobs())
        .flatMap(carriedBy)
        .map(({ no, index, generation }) => `${no} ${index} ${generation}`),
    );
    let swept = 0;
    for (const { no, orders } of late) {
      const missing = orders.filter(({ index, generation }) => !carried.has(`${no} ${index} ${generation}`));
      swept += await this.again(
        no,
        missing.map(({ index }) => index),
      );
    }
    return swept;
  }

  /** At the start of a process that is alone: the queue was emptied, so everything dispatched goes in anew. */
  async all(): Promise<number> {
    let swept = 0;
    for (const batch of await this.delivered()) {
      const open = await sending.deliveries.dispatched(this.ledger, batch.no);
      const dueAt = new Map(open.map(({ index, dueAt }) => [index, dueAt]));
      const nowMs = await storeNowMs(this.ledger);
      for (let first = 0; first < open.length; first += SWEEP_MAX) {
        const indexes = open.slice(first, first + SWEEP_MAX).map(({ index }) => index);
        swept += await this.again(batch.no, indexes, (index) =>
          Math.min(LONGEST_PAUSE_MS, Math.max(0, (dueAt.get(index) ?? 0) - nowMs)),
        );
      }
    }
    return swept;
  }

  async again(no: string, indexes: readonly number[], delayMs?: (index: number) => number): Promise<number> {
    if (indexes.length === 0) return 0;
    const open = await sending.deliveries.redispatch(this.ledger, no, this.mine.owner, indexes);
    await addOrders(this.queue, [{ no, indexes: open.indexes }], open.generation, { delayMs });
    return open.indexes.length;
  }

  private async delivered() {
    const open = await sending.deliveries.open(this.ledger);
    return open.filter(
      ({ owner, state, dispatched }) =>
        dispatched > 0 && owner === this.mine.owner && (state === 'running' || state === 'cancelled'),
    );
  }

  /**
   * The ids of jobs that a worker has or will take in time. One call reads the three lists in one moment, because jobs move
   * between them. The feeder keeps the lists short.
   */
  private async liveJobs(): Promise<string[]> {
    const { queue } = this;
    const nowMs = Math.trunc(await storeNowMs(this.ledger));
    // BullMQ counts delayed jobs by their time and lists them in its order, so no job's time has to be read.
    const [behind, inTime, delayed] = await Promise.all([
      queue.getDelayedCount(nowMs - PROMOTED_WITHIN_MS),
      queue.getDelayedCount(nowMs + LONGEST_PAUSE_MS + 1),
      queue.getDelayedCount(),
    ]);
    const strays = [...(await this.firstDelayed(behind)), ...(await this.lastDelayed(delayed - inTime))];
    const ids = await queue.getRanges(['wait', 'active', 'delayed'], 0, -1);
    if (strays.length === 0) return ids;
    // A job that moved between these calls may be taken for a stray. Its orders are dispatched twice then, and the ledger
    // lets one delivery begin.
    const left = new Set(strays);
    return ids.filter((id) => !left.has(id));
  }

  /** A clock that is behind added them, and no worker has seen them since they were due. */
  private async firstDelayed(count: number): Promise<string[]> {
    return count > 0 ? this.queue.getRanges(['delayed'], 0, count - 1, true) : [];
  }

  /** A clock that is ahead put them off for longer than any pause. */
  private async lastDelayed(count: number): Promise<string[]> {
    return count > 0 ? this.queue.getRanges(['delayed'], 0, count - 1) : [];
  }
}

/** An order may be noted as due a moment before its job is added. */
const LATE_MS = 1_000;
const SWEEP_MAX = 500;
/** More orders than the feeder dispatches at a time. */
const LATE_MAX = 4_000;
/**
 * Every so many looks at all batches with dispatched orders: one whose first order is due in time may have another that a
 * clock which was stepped back has put off for too long.
 */
const EVERY_BATCH = 60;
/** A worker with a clock that is right takes a delayed job when its time has come. */
const PROMOTED_WITHIN_MS = 5_000;
