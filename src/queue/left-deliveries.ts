import type { Queue } from 'bullmq';
import { CONCLUSIONS, presenceOf } from '../core/presence.js';
import { type OrderRef, type RealmLedger, recovery } from '../ledger/index.js';
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

/**
 * Deliveries of sessions that are no longer at work, perhaps lost with their machine. BullMQ gives them back only after
 * about a minute, and never while a process renews its locks without doing anything else.
 */
export class LeftDeliveries {
  /** Each session is reported once, and again when it has been heard in between. */
  private reported: readonly string[] = [];

  constructor(
    private readonly ledger: RealmLedger,
    private readonly queue: Queue<OrderJob>,
    private readonly self: string,
  ) {}

  /** The deliveries of sessions that stopped working since the last look. */
  async sinceLastLook(): Promise<OrderRef[]> {
    const { nowMs, signs } = await recovery.sessions.signs(this.ledger);
    const away = signs.filter(
      (sign) =>
        sign.session !== this.self && CONCLUSIONS[presenceOf(sign, nowMs)].deliveries === 'are made again',
    );
    const names = away.map(({ session, seenMs }) => `${session} ${seenMs}`);
    const fresh = away.filter((_, i) => !this.reported.includes(names[i] ?? ''));
    const taken = await takenBy(
      this.queue,
      fresh.map(({ session }) => session),
    );
    this.reported = names;
    return taken;
  }
}
