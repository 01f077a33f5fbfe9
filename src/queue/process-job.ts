import { DelayedError, type Job } from 'bullmq';
import { failPoint } from '../core/fail-point.js';
import type { OrderRef } from '../ledger/sending.js';
import { type Delivered, OVER } from './delivery.js';
import { type OrderJob, ordersOf } from './queues.js';

type Deliver = (ref: OrderRef) => Promise<Delivered>;

/**
 * One job: its orders one after the other. Where one of them has to be made again, the same job comes
 * again later, so that there is no second job for the same order and none is lost in between; those of its
 * orders that are settled by then answer so. BullMQ is told null: what became of them stands in the ledger.
 */
export async function processJob(
  job: Job<OrderJob>,
  token: string | undefined,
  deliver: Deliver,
): Promise<null> {
  const againInMs: number[] = [];
  const failures: unknown[] = [];
  for (const ref of ordersOf(job.data)) {
    // One that cannot be delivered must not keep the others of its job from being.
    const delivered = await withThoseAfter(ref, deliver).catch((error: unknown) => {
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
async function withThoseAfter(first: OrderRef, deliver: Deliver): Promise<Delivered> {
  const delivered = await deliver(first);
  const todo = 'next' in delivered ? [...delivered.next] : [];
  for (let ref = todo.shift(); ref !== undefined; ref = todo.shift()) {
    const after = await deliver(ref);
    // What was handed over and must wait is due in the ledger; the sweeper finds it.
    if ('next' in after) todo.push(...after.next);
  }
  return delivered;
}
