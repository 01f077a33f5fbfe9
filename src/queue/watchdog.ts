import type { Queue } from 'bullmq';
import type { OrderJob } from './queues.js';

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
