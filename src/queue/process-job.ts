import { DelayedError, type Job, type Queue } from 'bullmq';
import { failPoint } from '../core/fail-point.js';
import type { OrderRef } from '../ledger/index.js';
import { type Delivered, type OrderJob, OVER, ordersOf } from './queues.js';
import type { OrderSender } from './send-order.js';

/**
 * Workers have been seen alive, connected and idle for ever, after a failover of the store: jobs wait and
 * nobody takes them. Nothing mends such a process but a new one, so it ends and its supervisor starts it
 * again. Only a count that answers is believed: a store that is away is waited for.
 */
export class Watchdog {
  private lastSignMs = performance.now();
  private underWay = 0;

  constructor(
    private readonly queue: Queue<OrderJob>,
    private readonly patienceMs: number,
    private readonly onStalled: (waiting: number) => void,
  ) {}

  /** Around every delivery: taking one, working at it and ending it are signs of life. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.underWay += 1;
    this.lastSignMs = performance.now();
    try {
      return await work();
    } finally {
      this.underWay -= 1;
      this.lastSignMs = performance.now();
    }
  }

  /** `idle`: nothing may be sent now, for a reason that is known and said. */
  async tick(idle: boolean): Promise<void> {
    const waiting = idle || this.underWay > 0 ? 0 : await this.queue.getWaitingCount();
    if (waiting === 0) this.lastSignMs = performance.now();
    else if (performance.now() - this.lastSignMs > this.patienceMs) this.onStalled(waiting);
  }
}

/**
 * One job: its orders one after the other. Where one of them has to be made again, the same job comes
 * again later, so that there is no second job for the same order and none is lost in between; those of its
 * orders that are settled by then answer so. BullMQ is told null: what became of them stands in the ledger.
 */
export async function processJob(
  job: Job<OrderJob>,
  token: string | undefined,
  sender: OrderSender,
): Promise<null> {
  const againInMs: number[] = [];
  const failures: unknown[] = [];
  for (const ref of ordersOf(job.data)) {
    // One that cannot be delivered must not keep the others of its job from being.
    const delivered = await withThoseAfter(ref, sender).catch((error: unknown) => {
      failures.push(error);
      return OVER;
    });
    if ('againInMs' in delivered) againInMs.push(delivered.againInMs);
  }
  if (againInMs.length > 0) {
    await job.moveToDelayed(Date.now() + Math.ceil(Math.min(...againInMs)), token);
    throw new DelayedError();
  }
  if (failures.length > 0) throw failures[0];
  failPoint('delivered');
  return null;
}

/** An order, and those that waited for its members. */
async function withThoseAfter(first: OrderRef, sender: OrderSender): Promise<Delivered> {
  const delivered = await sender.send(first);
  const todo = 'next' in delivered ? [...delivered.next] : [];
  for (let ref = todo.shift(); ref !== undefined; ref = todo.shift()) {
    const after = await sender.send(ref);
    // What was handed over and must wait is due in the ledger; the sweeper finds it.
    if ('next' in after) todo.push(...after.next);
  }
  return delivered;
}
