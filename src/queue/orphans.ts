import type { Queue } from 'bullmq';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import type { OrderRef } from '../ledger/sending.js';
import { readSigns } from '../ledger/signs.js';
import { type OrderJob, ordersOf } from './queues.js';

/** Deliveries that sessions had taken and not begun to send. BullMQ notes the worker's name, our session. */
export async function takenBy(queue: Queue<OrderJob>, sessions: readonly string[]): Promise<OrderRef[]> {
  if (sessions.length === 0) return [];
  const active = await queue.getActive(0, ACTIVE_MAX);
  return active
    .filter((job) => job?.processedBy !== undefined && sessions.includes(job.processedBy))
    .flatMap(({ data }) => ordersOf(data));
}

const ACTIVE_MAX = 5_000;

/** Every session says every 10 s that it lives. */
const SILENT_AFTER_MS = 20_000;

/**
 * Sessions that fell silent, perhaps with their machine. BullMQ gives back what they had taken only after a
 * minute. Whether they live is not asked: a delivery may be made twice, the ledger decides each time.
 */
export class SilentSessions {
  /** Each is told of once, and again when it has been heard in between. */
  private told: readonly string[] = [];

  constructor(
    private readonly ledger: RealmLedger,
    private readonly queue: Queue<OrderJob>,
    private readonly self: string,
  ) {}

  /** What those that fell silent since the last look had taken. */
  async deliveries(): Promise<OrderRef[]> {
    const { nowMs, signs } = await readSigns(this.ledger);
    const silent = signs.filter(
      ({ session, seenMs }) => session !== this.self && nowMs - seenMs > SILENT_AFTER_MS,
    );
    const names = silent.map(({ session, seenMs }) => `${session} ${seenMs}`);
    const fresh = silent.filter((_, i) => !this.told.includes(names[i] ?? ''));
    const taken = await takenBy(
      this.queue,
      fresh.map(({ session }) => session),
    );
    this.told = names;
    return taken;
  }
}
