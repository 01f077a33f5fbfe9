import type { RealmProfile } from '../core/profile.js';
import { changeOf, type Terms, termsOf } from '../core/terms.js';
import { openBatches } from '../ledger/feeding.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import { haltBatch, resumeBatch } from '../ledger/steering.js';
import type { KnownBatches } from './known-batches.js';
import { changedReason } from './reasons.js';

/**
 * The seals of the batches at hand, held against the profile of this process. A batch that the profile does
 * not fit is halted by whoever would work it; it goes on with the next process whose profile fits it again.
 */
export class Seals {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly profile: RealmProfile,
    private readonly batches: KnownBatches,
  ) {}

  async termsOf(no: string): Promise<Terms> {
    return termsOf(await this.batches.manifest(no), this.profile);
  }

  /** Whether the batch may be worked; one that may not stands still from here on. */
  async fit(no: string): Promise<boolean> {
    return (await this.haltChanged(no)) === null;
  }

  /** Null where the profile fits, else the state that the batch is in now. */
  async haltChanged(no: string): Promise<string | null> {
    const change = changeOf(await this.batches.manifest(no), this.profile);
    if (change === null) return null;
    return (await haltBatch(this.ledger, no, changedReason(change, this.profile.name))).state;
  }

  /** When a process begins: before anything is fed, and for what another profile had halted. */
  async lookAll(owner: string): Promise<void> {
    for (const batch of await openBatches(this.ledger, 0)) {
      if (batch.owner !== owner || !(await this.fit(batch.no))) continue;
      if (batch.state === 'halted')
        await resumeBatch(this.ledger, batch.no, null, { owner, haltedFor: 'ALM_BATCH_TERMS_CHANGED' });
    }
  }
}
