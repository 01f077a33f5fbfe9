import type { BatchId } from '../core/ids.js';
import { show } from '../csv/visible.js';
import { batchNumber } from '../ledger/batches.js';
import { batchKeys } from '../ledger/keys.js';
import { decodeManifest } from '../ledger/manifest.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';

export type EarlierBatch = { readonly no: string; readonly rows: number; readonly currency: string | null };

/** The batches of whose orders a file speaks, each asked for once. */
export class EarlierBatches {
  private readonly batches = new Map<BatchId, Promise<EarlierBatch | null>>();

  constructor(private readonly ledger: RealmLedger) {}

  /** Null where the books have none, or only an import that has not finished. */
  find(id: BatchId): Promise<EarlierBatch | null> {
    const known = this.batches.get(id) ?? this.read(id);
    this.batches.set(id, known);
    return known;
  }

  private async read(id: BatchId): Promise<EarlierBatch | null> {
    const { scripts, keyPrefix } = this.ledger;
    const no = await batchNumber(this.ledger, id);
    if (no === null) return null;
    const manifest = await scripts.retryWhileAway('read batch', () =>
      scripts.redis.hget(batchKeys(keyPrefix, no).meta, 'manifest'),
    );
    if (manifest === null) return null;
    const { rows, currency } = decodeManifest(manifest);
    return { no, rows, currency };
  }
}

export function currencyName(currency: string | null): string {
  return currency === null ? 'the realm’s default currency' : `currency ${show(currency)}`;
}
