import type { Queue } from 'bullmq';
import { orderId } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import { attention } from '../ledger/attention.js';
import type { BatchRef } from '../ledger/batches.js';
import type { Books } from '../ledger/books.js';
import { openBatches } from '../ledger/feeding.js';
import { liveness } from '../ledger/liveness.js';
import type { PlanReader } from '../ledger/plan-store.js';
import type { OrderRecord } from '../ledger/record.js';
import { readRecord } from '../ledger/rows.js';
import { type OrderRef, orphan } from '../ledger/sending.js';
import { forgetSession, listSessions, type SessionEntry } from '../ledger/sessions.js';
import { unsend } from '../ledger/unsend.js';
import type { Evidence } from './evidence.js';
import { type OrderJob, ordersOf } from './queues.js';

/**
 * What dead sessions leave behind. An order that one of them was sending becomes unknown (or a doubt where
 * nothing can be asked); its other deliveries are made again at once instead of waiting for BullMQ's stall
 * timer. A session is dead only when that is proven (see liveness.ts); one that is late, frozen or elsewhere
 * is left alone.
 */
export class Orphans {
  constructor(
    private readonly books: Books,
    private readonly profile: RealmProfile,
    private readonly plans: PlanReader,
    private readonly session: string,
    private readonly batchOf: (no: string) => Promise<BatchRef>,
    private readonly evidence: Evidence | null,
  ) {}

  async deadSessions(): Promise<{ dead: SessionEntry[]; others: SessionEntry[] }> {
    const entries = (await listSessions(this.books)).filter(({ id }) => id !== this.session);
    const states = await Promise.all(entries.map(liveness));
    return {
      dead: entries.filter((_, i) => states[i] === 'dead'),
      others: entries.filter((_, i) => states[i] !== 'dead'),
    };
  }

  /** Settles what the dead were sending. Answers the orders that were, so that they can be dispatched. */
  async adopt(
    dead: readonly SessionEntry[],
    /** Sessions whose journal was read whole and merged: what is left in their name was never sent. */
    merged: ReadonlySet<string> = new Set(),
  ): Promise<OrderRef[]> {
    if (dead.length === 0) return [];
    const ids = new Set(dead.map(({ id }) => id));
    const adopted: OrderRef[] = [];
    for (const { no } of await openBatches(this.books, 0)) {
      const batch = await this.batchOf(no);
      for await (const index of attention(batch, 'sending')) {
        const record = await readRecord(batch, index);
        const { session } = record;
        if (session === null || !ids.has(session)) continue;
        const open = merged.has(session)
          ? await this.takeBack(batch, index, session, record)
          : await this.adoptOne(batch, index, session, record.keyNumber);
        if (open) adopted.push({ no, index });
      }
    }
    for (const { id } of dead) await forgetSession(this.books, id);
    return adopted;
  }

  private async takeBack(
    batch: BatchRef,
    index: number,
    session: string,
    { keyNumber, sentAt }: OrderRecord,
  ): Promise<boolean> {
    const row = await this.plans.row(batch.no, index);
    if (row.order === null) return false;
    const detail = {
      event: 'orphaned',
      at: Date.now(),
      key: `${orderId(batch.id, index)}.${keyNumber}`,
      session,
      code: 'ALM_SEND_NOT_SENT',
      message: 'the process that was about to send it died before; its journal proves that nothing was sent',
    } as const;
    const attempt = { tokens: row.order.tokens, sentAt: sentAt ?? 0, detail };
    return unsend(this.books, { no: batch.no, index }, session, attempt);
  }

  private async adoptOne(
    batch: BatchRef,
    index: number,
    session: string,
    keyNumber: number,
  ): Promise<boolean> {
    const row = await this.plans.row(batch.no, index);
    if (row.order === null) return false;
    const toDoubt = this.profile.certainty === 'manual';
    const detail = {
      event: 'orphaned',
      at: Date.now(),
      key: `${orderId(batch.id, index)}.${keyNumber}`,
      session,
      code: 'ALM_SEND_OWNER_DIED',
      message: 'the process that was sending it died; whether the request arrived is not known',
    } as const;
    const ref = { no: batch.no, index };
    const done = await orphan(this.books, ref, session, row.order.tokens, detail, toDoubt);
    if (done && toDoubt) await this.evidence?.ofDoubt(ref, row.order);
    return done && !toDoubt;
  }
}

/** Deliveries that dead workers had taken and not begun to send. BullMQ notes the worker's name, our session. */
export async function takenBy(queue: Queue<OrderJob>, dead: readonly SessionEntry[]): Promise<OrderRef[]> {
  if (dead.length === 0) return [];
  const ids = new Set(dead.map(({ id }) => id));
  const active = await queue.getActive(0, ACTIVE_MAX);
  return active
    .filter((job) => job?.processedBy !== undefined && ids.has(job.processedBy))
    .flatMap(({ data }) => ordersOf(data));
}

const ACTIVE_MAX = 5_000;
