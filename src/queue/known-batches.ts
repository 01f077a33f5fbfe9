import { type BatchRef, batchRef, readBatch } from '../ledger/batches.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import type { Manifest } from '../ledger/views.js';

/** The manifests of the batches at hand; they never change, unless the store forgets a whole batch. */
export class KnownBatches {
  private manifests = new Map<string, Manifest>();

  constructor(private readonly ledger: RealmLedger) {}

  known(no: string): Manifest | undefined {
    return this.manifests.get(no);
  }

  async manifest(no: string): Promise<Manifest> {
    const known = this.manifests.get(no);
    if (known !== undefined) return known;
    const { manifests } = this;
    const batch = await readBatch(await this.ref(no));
    if (batch === undefined) throw new Error(`batch no. ${no} is not sealed`);
    // Into the map it was asked for: an answer from before a rollback must not outlive it.
    manifests.set(no, batch.manifest);
    return batch.manifest;
  }

  ref(no: string): Promise<BatchRef> {
    return batchRef(this.ledger, no);
  }

  clear(): void {
    this.manifests = new Map();
  }
}
