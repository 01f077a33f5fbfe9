import { type ConnectionOptions, Queue } from 'bullmq';
import { type OrderRef, queuePrefix, type RealmLedger } from '../ledger/index.js';

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
): Promise<void> {
  await addJobs(queue, jobsOf(no, indexes, most), generation);
}

/** Each with a job of its own, delivered when it is due. */
export async function addDelayed(
  queue: Queue<OrderJob>,
  no: string,
  indexes: readonly number[],
  generation: number,
  delayMs: (index: number) => number,
): Promise<void> {
  await addJobs(queue, jobsOf(no, indexes, 1), generation, ({ first }) => delayMs(first));
}

async function addJobs(
  queue: Queue<OrderJob>,
  jobs: readonly OrderJob[],
  generation: number,
  delayMs: (job: OrderJob) => number = () => 0,
): Promise<void> {
  if (jobs.length === 0) return;
  await queue.addBulk(
    jobs.map((data) => ({
      name: 'order',
      data,
      opts: {
        jobId: jobId(data, generation),
        attempts: 1,
        removeOnComplete: true,
        removeOnFail: true,
        ...(delayMs(data) > 0 && { delay: delayMs(data) }),
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
