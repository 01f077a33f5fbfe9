import { type BatchRef, type Reason, readBatch, resumeBatch } from '../ledger/index.js';

/** `run --first N`. */
export type First = { readonly orders: number; readonly reason: Reason };

/**
 * The batch that this process works itself. The store may come back with an earlier past, in which the batch is
 * nobody's and the limit that was confirmed is not there, or whole again: then the run makes it its own again,
 * before anybody else does, with what is left of the limit.
 */
export class OwnRun {
  private hasSent = false;
  /** Planned orders that stay when the limit is through. */
  private leaves = 0;

  constructor(
    private readonly ref: BatchRef,
    private readonly session: string,
    private readonly first: First | null,
  ) {}

  /** From here on what is no longer planned counts; before, it was sent by others. */
  sent(): void {
    this.hasSent = true;
  }

  async retake(): Promise<void> {
    const { ref, session, first } = this;
    const batch = await readBatch(ref);
    if (batch === undefined || batch.manifest.batch !== ref.id) return;
    const { state, owner, counts } = batch;
    if (first !== null && !this.hasSent) this.leaves = (counts.planned ?? 0) - first.orders;
    if (owner === session && first === null) return;
    const interrupted = state === 'paused' && batch.reason?.code === 'ALM_BATCH_INTERRUPTED';
    const isTaken = owner !== session && interrupted;
    if (state !== 'running' && state !== 'planned' && !isTaken) return;
    const left = Math.max(0, (counts.planned ?? 0) - this.leaves);
    const limit = first && { first: { ...first, orders: Math.min(first.orders, left) } };
    await resumeBatch(ref.ledger, ref.no, null, { owner: session, ...limit });
  }
}
