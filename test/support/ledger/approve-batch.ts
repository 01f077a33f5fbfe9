import { approve } from '../../../src/ledger/moves/approvals.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { BatchRef } from '../../../src/ledger/realm-ledger.js';

/** Approves a batch as a person who has just viewed it, unless another hash is passed. */
export async function approveBatch(ref: BatchRef, who: string, hash?: string, at = Date.now()) {
  const view = await readBatch(ref);
  const shown = {
    orders: view?.counts.planned ?? 0,
    tokens: view?.sums.planned ?? 0n,
    retried: view?.retried ?? 0,
  };
  const by = { who, hash: hash ?? view?.confirmed ?? '', shown };
  return approve({ kind: 'batch', batch: ref }, by, { at, who, what: 'approved', why: null });
}
