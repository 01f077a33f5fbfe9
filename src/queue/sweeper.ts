import type { Queue } from 'bullmq';
import type { Books } from '../ledger/books.js';
import { dispatched, generationsOf, openBatches, overdue, redispatch } from '../ledger/feeding.js';
import { realmState } from '../ledger/steering.js';
import { addOrders, jobId, type OrderJob, queuePrefixOf } from './queues.js';

/**
 * A job that BullMQ lost, failed or ended says nothing about its order. What is due and has no live job is
 * dispatched again under a new generation.
 */
export class Sweeper {
  constructor(
    private readonly books: Books,
    private readonly queue: Queue<OrderJob>,
    private readonly owner: string,
  ) {}

  async tick(): Promise<number> {
    const { halt, breakerSince } = await realmState(this.books);
    if (halt !== null || breakerSince !== null) return 0;
    let swept = 0;
    for (const batch of await this.mine()) {
      const late = await overdue(this.books, batch.no, LATE_MS, SWEEP_MAX);
      const missing = await this.withoutJob(batch.no, late);
      swept += await this.again(batch.no, missing);
    }
    return swept;
  }

  /** At the start of a process that is alone: the queue was emptied, so everything dispatched goes in anew. */
  async all(): Promise<number> {
    let swept = 0;
    for (const batch of await this.mine()) {
      const open = await dispatched(this.books, batch.no);
      const dueAt = new Map(open.map(({ index, dueAt }) => [index, dueAt]));
      for (let first = 0; first < open.length; first += SWEEP_MAX) {
        const indexes = open.slice(first, first + SWEEP_MAX).map(({ index }) => index);
        swept += await this.again(batch.no, indexes, (index) =>
          Math.max(0, (dueAt.get(index) ?? 0) - Date.now()),
        );
      }
    }
    return swept;
  }

  async again(no: string, indexes: readonly number[], delayMs?: (index: number) => number): Promise<number> {
    if (indexes.length === 0) return 0;
    const open = await redispatch(this.books, no, this.owner, indexes);
    await addOrders(this.queue, no, open.indexes, open.generation, delayMs);
    return open.indexes.length;
  }

  private async mine() {
    const open = await openBatches(this.books, 0);
    return open.filter(
      ({ owner, state }) => owner === this.owner && (state === 'running' || state === 'cancelled'),
    );
  }

  private async withoutJob(no: string, indexes: readonly number[]): Promise<number[]> {
    if (indexes.length === 0) return [];
    const { redis } = this.books.caller;
    const generations = await generationsOf(this.books, no, indexes);
    const alive = await this.books.caller.patiently('look for jobs', () =>
      Promise.all(
        indexes.map((index, i) =>
          redis.exists(
            `${queuePrefixOf(this.books)}:${this.queue.name}:${jobId({ no, index }, generations[i] ?? 0)}`,
          ),
        ),
      ),
    );
    return indexes.filter((_, i) => alive[i] === 0);
  }
}

/** An order may be noted as due a moment before its job is added. */
const LATE_MS = 1_000;
const SWEEP_MAX = 500;
