import { type ConnectionOptions, Queue } from 'bullmq';
import type { WriteOutcome } from '../core/classify.js';
import { type BatchId, orderId } from '../core/ids.js';
import type { OrderState } from '../core/states.js';
import { type OrderRef, type PlannedOrder, queuePrefix, type RealmLedger } from '../ledger/index.js';

/**
 * BullMQ queues of a realm: `orders` for imported batches, `run-<no>` for a batch that one process works
 * itself, `dead` for the newest dead letters. A job is a delivery, never the truth: its data is the place of
 * its orders in the ledger and nothing else, and it has one attempt. It carries one order, or where no pace
 * holds the worker back a few that follow each other in the file: BullMQ's work for a job is then shared.
 */
export type OrderJob = { readonly no: string; readonly first: number; readonly last: number };

export const ORDERS_QUEUE = 'orders';
export const DEAD_QUEUE = 'dead';
export const runQueue = (no: string): string => `run-${no}`;

/** BullMQ closes no connection that it was given; whoever opened it does. */
export type { Redis as QueueConnection } from 'ioredis';

export function openQueue<Data>(
  ledger: RealmLedger,
  name: string,
  connection: ConnectionOptions,
): Queue<Data> {
  const queue = new Queue<Data>(name, { connection, prefix: queuePrefix(ledger) });
  // Connection trouble is logged by the connection itself; an unhandled 'error' would end the process.
  queue.on('error', () => {});
  return queue;
}

export function ordersOf({ no, first, last }: OrderJob): OrderRef[] {
  return Array.from({ length: last - first + 1 }, (_, i) => ({ no, index: first + i }));
}

/** Deterministic within a generation: adding a job twice is adding it once. BullMQ allows no ':' here. */
function jobId({ no, first, last }: OrderJob, generation: number): string {
  return `${no}-${first}-${last}-${generation}`;
}

/** What a job carries, told by its id. */
export function carriedBy(id: string): (OrderJob & { readonly generation: number }) | undefined {
  const [no = '', first, last, generation] = id.split('-');
  return generation === undefined
    ? undefined
    : { no, first: Number(first), last: Number(last), generation: Number(generation) };
}

export async function addOrders(
  queue: Queue<OrderJob>,
  no: string,
  indexes: readonly number[],
  generation: number,
  /** How many orders a job may carry. */
  most = 1,
  /** How long after now the job with this first order is delivered. */
  delayMs: (first: number) => number = () => 0,
): Promise<void> {
  if (indexes.length === 0) return;
  await queue.addBulk(
    jobsOf(no, indexes, most).map((data) => ({
      name: 'order',
      data,
      opts: {
        jobId: jobId(data, generation),
        attempts: 1,
        removeOnComplete: true,
        removeOnFail: true,
        ...(delayMs(data.first) > 0 && { delay: delayMs(data.first) }),
      },
    })),
  );
}

function jobsOf(no: string, indexes: readonly number[], most: number): OrderJob[] {
  const jobs: { no: string; first: number; last: number }[] = [];
  for (const index of indexes) {
    const open = jobs.at(-1);
    if (open !== undefined && open.last === index - 1 && index - open.first < most) open.last = index;
    else jobs.push({ no, first: index, last: index });
  }
  return jobs;
}

/** What becomes of a delivery: over (with orders that waited for this one), or made again after a while. */
export type Delivered = { readonly next: readonly OrderRef[] } | { readonly againInMs: number };

export const OVER: Delivered = { next: [] };

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

/** Hears of every order that ended unpaid or in doubt. */
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
