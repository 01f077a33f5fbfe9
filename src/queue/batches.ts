import type { RealmProfile } from '../core/profile.js';
import { changeOf, type Terms, termsOf } from '../core/terms.js';
import {
  type BatchRef,
  type Manifest,
  type RealmLedger,
  type Reason,
  readBatch,
  reading,
  sending,
  steering,
} from '../ledger/index.js';
import { changedReason } from './reasons.js';

/**
 * The batches at hand: their manifests, which never change unless the store forgets a whole batch, held against the
 * profile of this process. A batch that the profile does not fit is halted by whoever would work it; it goes on with
 * the next process whose profile fits it again.
 */
export class KnownBatches {
  private manifests = new Map<string, Manifest>();

  constructor(
    private readonly ledger: RealmLedger,
    private readonly profile: RealmProfile,
  ) {}

  async manifest(no: string): Promise<Manifest> {
    const known = this.manifests.get(no);
    if (known !== undefined) return known;
    const { manifests } = this;
    const manifest = await reading.sealedManifest(this.ledger, no);
    if (manifest === null) throw new Error(`batch no. ${no} is not sealed`);
    // The answer goes into the map it was asked for: one from before a rollback must not outlive it.
    manifests.set(no, manifest);
    return manifest;
  }

  clear(): void {
    this.manifests = new Map();
  }

  async termsOf(no: string): Promise<Terms> {
    return termsOf(await this.manifest(no), this.profile);
  }

  /** Whether the batch may be worked; one that may not stands still from here on. */
  async fit(no: string): Promise<boolean> {
    return (await this.haltChanged(no)) === null;
  }

  /** Null where the profile fits, else the state that the batch is in now. */
  async haltChanged(no: string): Promise<string | null> {
    const manifest = await this.manifest(no);
    const change = changeOf(manifest, this.profile);
    if (change === null) return null;
    const batch = { ledger: this.ledger, no, id: manifest.batch };
    return (await steering.batch.halt(batch, changedReason(change, this.profile.name))).state;
  }

  /** When a process begins: before anything is fed, and for what another profile had halted. */
  async lookAll(owner: string): Promise<void> {
    for (const batch of await sending.deliveries.open(this.ledger)) {
      if (batch.owner !== owner || !(await this.fit(batch.no))) continue;
      if (batch.state === 'halted')
        await steering.batch.resume({ ...batch, ledger: this.ledger }, null, {
          owner,
          haltedFor: 'ALM_BATCH_TERMS_CHANGED',
        });
    }
  }
}

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
    await steering.batch.resume(ref, null, { owner: session, ...limit });
  }
}
