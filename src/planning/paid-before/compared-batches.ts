import { type BatchRef, batchRef, lists, planning, type RealmLedger } from '../../ledger/index.js';

/**
 * The batches that may have paid one of the rows, newest first: those that are open or ended lately, those that a person has
 * named, and, where rows stand in for orders, whatever was sealed or retried since those (`sinces`: the numbers of their seals).
 */
export async function comparedWith(
  ledger: RealmLedger,
  {
    whenever,
    sinces,
    now,
  }: { readonly whenever: readonly string[]; readonly sinces: readonly number[]; readonly now: number },
): Promise<BatchRef[]> {
  const lately = { from: now - planning.earlier.lookBackMs - CLOCKS_APART_MS };
  const since = { from: Math.min(...sinces) };
  const found = await Promise.all([
    lists.batchesIn(ledger, 'open'),
    lists.batchesIn(ledger, 'ended', lately),
    lists.batchesIn(ledger, 'archived', lately),
    Promise.all(whenever.map((no) => batchRef(ledger, no))),
    sinces.length === 0 ? [] : lists.batchesIn(ledger, 'sealed', since),
    sinces.length === 0 ? [] : lists.batchesIn(ledger, 'again', since),
  ]);
  const byNumber = new Map(found.flat().map((ref) => [ref.no, ref]));
  return [...byNumber.values()].sort((one, other) => Number(other.no) - Number(one.no));
}

/** A batch is recent by the clock of its importer or of the store. */
const CLOCKS_APART_MS = 24 * 3_600_000;
