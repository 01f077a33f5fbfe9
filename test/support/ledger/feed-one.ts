import { feedBatches } from '../../../src/ledger/moves/feed.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';

/** Feeds one batch, at most `most` orders. */
export async function feed(ledger: RealmLedger, no: string, most: number, owner: string): Promise<number[]> {
  const [fed = []] = await feedBatches(ledger, [[no, most]], most, owner);
  return fed;
}
