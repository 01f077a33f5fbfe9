import { isAlmonerError } from '../core/errors/error.js';
import { type OrderId, orderId } from '../core/ids.js';
import type { EarlierAddress } from '../ledger/addresses.js';
import { type BatchRef, readBatch } from '../ledger/batches.js';
import { type Refusal, type RetriedBy, retryOrder } from '../ledger/dead.js';
import { judgedAt } from '../ledger/judged-again.js';
import type { PlannedOrder } from '../ledger/plan-block.js';
import { contentHash, contentWords } from '../ledger/reference.js';
import { passAddresses } from './other-address.js';
import { ComparedRows, findRepeats } from './repeats.js';

/** A dead letter, and its row. */
export type Letter = { readonly index: number; readonly row: PlannedOrder };

export type Compared = { readonly seals: string; readonly paid: ReadonlyMap<number, OrderId> };

/**
 * Dead letters without references, of one batch, whose rows another file was given for since, or of which an equal
 * order was retried: to retry them as well would pay them twice. They are compared as those of a failed.csv are.
 * Under another address any of them may have been paid since: they pass the gate of every import, which stops all.
 */
export async function comparePaid(
  ref: BatchRef,
  letters: readonly Letter[],
  by: { readonly who: string; readonly at: number },
  seen: readonly EarlierAddress[] = [],
): Promise<Compared> {
  const { seals } = await judgedAt(ref.books);
  await passAddresses(ref.books, seen, by);
  const paid = new Map<number, OrderId>();
  const view = await readBatch(ref);
  const rows = new ComparedRows(view?.manifest.currency ?? null);
  rows.exact = true;
  for (const { index, row } of letters)
    if (row.reference === null) rows.add(index, row.line, contentWords(contentHash(row.order)), ref.no);
  for (const { batch, rows: found } of (await findRepeats(ref.books, rows, by.at)).batches)
    for (const [index, , order] of found) paid.set(index, orderId(batch, order));
  return { seals, paid };
}

/** Retries one that was compared; where another batch was sealed since, or another address asked, it is again. */
export async function retryCompared(
  ref: BatchRef,
  letter: Letter,
  by: RetriedBy,
  first?: Compared,
): Promise<'ok' | Refusal> {
  for (let compared = first; ; compared = undefined) {
    const now = compared ?? (await comparePaid(ref, [letter], by).catch(leftAlone));
    if ('why' in now) return now;
    const { seals, paid } = now;
    const other = paid.get(letter.index);
    if (other !== undefined)
      return {
        why: `the same row is order ${other} by now, which is paid or may still be; where both are meant, run its row of failed.csv with --again LABEL`,
      };
    const answer = await retryOrder(ref, letter.index, letter.row, by, seals);
    if (answer !== 'moved') return answer;
  }
}

/** Others of the same command may be back to work: this one alone is refused. */
function leftAlone(error: unknown): Refusal {
  if (isAlmonerError(error, 'ALM_PLAN_OTHER_ADDRESS'))
    return { why: 'its realm was paid under another address meanwhile; retry it again to see where' };
  if (isAlmonerError(error) && error.code.startsWith('ALM_LEDGER_ARCHIVE_')) return { why: error.message };
  throw error;
}
