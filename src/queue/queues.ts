import { type ConnectionOptions, Queue } from 'bullmq';
import type { WriteOutcome } from '../core/classify.js';
import { type BatchId, orderId } from '../core/ids.js';
import type { OrderState } from '../core/states.js';
import type { Terms } from '../core/terms.js';
import type { OrderRef, PlannedOrder, RealmLedger } from '../ledger/index.js';

/**
 * BullMQ queues of a realm: `orders` for imported batches, `run-<no>` for a batch that one process works
 * itself, `dead` for the newest dead letters. A job is a delivery, never the truth: its data is the places of
 * its orders in the ledger and nothing else, and it has one attempt. It carries one order, or where no pace
 * holds the worker back a few, of one batch or of several: BullMQ's work for a job is then shared.
 */
export type OrderJob = { readonly orders: readonly Stretch[] };

/** Orders of a batch that follow each other. */
type Stretch = readonly [no: string, first: number, last: number];

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
  const queue = new Queue<Data>(name, { connection, prefix: ledger.queuePrefix });
  // Connection trouble is logged by the connection itself; an unhandled 'error' would end the process.
  queue.on('error', () => {});
  return queue;
}

export function ordersOf({ orders }: OrderJob): OrderRef[] {
  return orders.flatMap(([no, first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => ({ no, index: first + i })),
  );
}

/** Deterministic within a generation: adding a job twice is adding it once. BullMQ allows no ':' here. */
function jobId({ orders }: OrderJob, generation: number): string {
  return orders.map((stretch) => [...stretch, generation].join('-')).join('_');
}

/** What a job carries, told by its id. */
export function carriedBy(id: string): (OrderRef & { readonly generation: number })[] {
  return id.split('_').flatMap((stretch) => {
    const [no = '', first, last, generation] = stretch.split('-');
    if (generation === undefined) return [];
    const orders: readonly Stretch[] = [[no, Number(first), Number(last)]];
    return ordersOf({ orders }).map((order) => ({ ...order, generation: Number(generation) }));
  });
}

/** Orders of a batch that are to be delivered. */
export type ToDeliver = { readonly no: string; readonly indexes: readonly number[] };

type JobShape = {
  /** How many orders a job may carry. */
  readonly most?: number;
  /** How long after now the job with this first order is delivered. */
  readonly delayMs?: ((first: number) => number) | undefined;
};

export async function addOrders(
  queue: Queue<OrderJob>,
  batches: readonly ToDeliver[],
  generation: number,
  { most = 1, delayMs = () => 0 }: JobShape = {},
): Promise<void> {
  const jobs = jobsOf(batches, most);
  if (jobs.length === 0) return;
  await queue.addBulk(
    jobs.map((data) => {
      const delay = delayMs(data.orders[0]?.[1] ?? 0);
      return {
        name: 'order',
        data,
        opts: {
          jobId: jobId(data, generation),
          attempts: 1,
          removeOnComplete: true,
          removeOnFail: true,
          ...(delay > 0 && { delay }),
        },
      };
    }),
  );
}

function jobsOf(batches: readonly ToDeliver[], most: number): OrderJob[] {
  const jobs: { orders: [no: string, first: number, last: number][]; size: number }[] = [];
  for (const { no, indexes } of batches)
    for (const index of indexes) {
      let job = jobs.at(-1);
      if (job === undefined || job.size >= most) {
        job = { orders: [], size: 0 };
        jobs.push(job);
      }
      const stretch = job.orders.at(-1);
      if (stretch?.[0] === no && stretch[2] === index - 1) stretch[2] = index;
      else job.orders.push([no, index, index]);
      job.size += 1;
    }
  return jobs.map(({ orders }) => ({ orders }));
}

/** The queues of a realm leave the store: those of all its workers, and of runs of batches with these numbers. */
export async function dropQueues(
  ledger: RealmLedger,
  connection: ConnectionOptions,
  runs: readonly string[],
): Promise<void> {
  for (const name of [ORDERS_QUEUE, DEAD_QUEUE, ...runs.map(runQueue)]) {
    const queue = openQueue(ledger, name, connection);
    await queue.obliterate({ force: true });
    await queue.close();
  }
}

/** What becomes of a delivery: over (with orders that waited for this one), or made again after a while. */
export type Delivered = { readonly next: readonly OrderRef[] } | { readonly againInMs: number };

export const OVER: Delivered = { next: [] };

/** An order that is delivered to a worker, with the terms its batch was confirmed under. */
export type WorkItem = {
  readonly batch: BatchId;
  readonly ref: OrderRef;
  readonly row: PlannedOrder;
  readonly terms: Terms;
};

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

/** An order that ended unpaid or in doubt. */
type DeadOrder = Pick<WorkItem, 'batch' | 'ref' | 'row'> & {
  readonly state: OrderState;
  readonly why: Pick<WriteOutcome, 'code' | 'status' | 'message'>;
  readonly attempts: number;
};

/** Hears of every order that ended unpaid or in doubt. */
export type OnDead = (dead: DeadOrder) => void;

const KEEP_MAX = 10_000;
const TRIM_EVERY = 500;

export class DeadLetters {
  private readonly queue: Queue<DeadLetter>;
  private sinceTrim = TRIM_EVERY;
  private pending: Promise<unknown> = Promise.resolve();

  constructor(ledger: RealmLedger, connection: ConnectionOptions) {
    this.queue = openQueue<DeadLetter>(ledger, DEAD_QUEUE, connection);
  }

  readonly onDead: OnDead = ({ batch, ref, row, state, why, attempts }) => {
    const order = orderId(batch, ref.index);
    const { code, status, message } = why;
    this.post(ref, { order, batch, line: row.line, state, class: code, status, message, attempts });
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
