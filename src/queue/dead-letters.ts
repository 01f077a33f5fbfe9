import type { ConnectionOptions, Queue } from 'bullmq';
import type { WriteOutcome } from '../core/classify.js';
import { type BatchId, orderId } from '../core/ids.js';
import type { OrderState } from '../core/states.js';
import type { OrderRef, PlannedOrder, RealmLedger } from '../ledger/index.js';
import { DEAD_QUEUE, openQueue } from './queues.js';

/**
 * The newest dead letters as jobs nobody works, for the queue board. The ledger remains the truth and
 * lists all of them; losing an entry here loses a picture.
 */
export type DeadLetter = {
  readonly order: string;
  readonly batch: string;
  readonly line: number;
  readonly state: string;
  readonly class: string | null;
  readonly status: number | null;
  readonly message: string;
  readonly attempts: number;
};

/** Told of every order that ended unpaid or in doubt. */
export type OnDead = (
  batch: BatchId,
  ref: OrderRef,
  row: PlannedOrder,
  state: OrderState,
  why: Pick<WriteOutcome, 'code' | 'status' | 'message'>,
  attempts: number,
) => void;

const KEEP_MAX = 10_000;
const TRIM_EVERY = 500;

export class DeadLetters {
  private readonly queue: Queue<DeadLetter>;
  private sinceTrim = TRIM_EVERY;
  private pending: Promise<unknown> = Promise.resolve();

  constructor(ledger: RealmLedger, connection: ConnectionOptions) {
    this.queue = openQueue<DeadLetter>(ledger, DEAD_QUEUE, connection);
  }

  readonly onDead: OnDead = (batch, ref, { line }, state, { code, status, message }, attempts) => {
    const order = orderId(batch, ref.index);
    this.post(ref, { order, batch, line, state, class: code, status, message, attempts });
  };

  /** Not awaited by the worker: a dead letter on the board must not hold up the next order. */
  post(ref: OrderRef, letter: DeadLetter): void {
    this.pending = this.pending
      .then(() => this.queue.add(letter.class ?? letter.state, letter, { jobId: letterId(ref), attempts: 1 }))
      .then(() => this.trim())
      .catch(() => {});
  }

  async remove(ref: OrderRef): Promise<void> {
    await this.queue.remove(letterId(ref)).catch(() => {});
  }

  async close(): Promise<void> {
    await this.pending;
    await this.queue.close();
  }

  private async trim(): Promise<void> {
    this.sinceTrim += 1;
    if (this.sinceTrim < TRIM_EVERY) return;
    this.sinceTrim = 0;
    const excess = (await this.queue.getWaitingCount()) - KEEP_MAX;
    // Oldest first; never the whole list at once, and never by scanning it.
    if (excess > 0) await this.queue.clean(0, excess, 'wait');
  }
}

function letterId(ref: OrderRef): string {
  return `${ref.no}-${ref.index}`;
}
