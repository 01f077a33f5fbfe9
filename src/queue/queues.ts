import { type ConnectionOptions, Queue } from 'bullmq';
import type { Books } from '../ledger/books.js';
import type { OrderRef } from '../ledger/sending.js';

/**
 * BullMQ queues of a realm: `orders` for imported batches, `run-<no>` for a batch that one process works
 * itself, `dead` for the newest dead letters. A job is a delivery, never the truth: its data is the order's
 * place in the ledger and nothing else, and it has one attempt.
 */
export type OrderJob = { readonly no: string; readonly index: number };

export const ORDERS_QUEUE = 'orders';
export const DEAD_QUEUE = 'dead';
export const runQueue = (no: string): string => `run-${no}`;

export function queuePrefixOf(books: Books): string {
  return `${books.realm}:q`;
}

export function openQueue<Data>(books: Books, name: string, connection: ConnectionOptions): Queue<Data> {
  const queue = new Queue<Data>(name, { connection, prefix: queuePrefixOf(books) });
  // Connection trouble is logged by the connection itself; an unhandled 'error' would end the process.
  queue.on('error', () => {});
  return queue;
}

/** Deterministic within a generation: adding a job twice is adding it once. BullMQ allows no ':' here. */
export function jobId(ref: OrderRef, generation: number): string {
  return `${ref.no}-${ref.index}-${generation}`;
}

export async function addOrders(
  queue: Queue<OrderJob>,
  no: string,
  indexes: readonly number[],
  generation: number,
  delayMs: (index: number) => number = () => 0,
): Promise<void> {
  if (indexes.length === 0) return;
  await queue.addBulk(
    indexes.map((index) => ({
      name: 'order',
      data: { no, index },
      opts: {
        jobId: jobId({ no, index }, generation),
        attempts: 1,
        removeOnComplete: true,
        removeOnFail: true,
        ...(delayMs(index) > 0 && { delay: delayMs(index) }),
      },
    })),
  );
}
