import { isAlmonerError } from '../core/errors/error.js';
import { type OrderId, orderId } from '../core/ids.js';
import type { EarlierAddress } from '../ledger/addresses.js';
import { type BatchRef, readBatch } from '../ledger/batches.js';
import { type Refusal, type RetriedBy, retryOrder } from '../ledger/dead.js';
import { judgedBeside } from '../ledger/judged-again.js';
import { isPlannedOrder, type PlannedOrder } from '../ledger/plan-block.js';
import { contentHash, contentWords } from '../ledger/reference.js';
import { BareRows } from './bare-rows.js';
import { type EqualOrder, equalOrders, readSketch } from './equal-orders.js';
import { passAddresses } from './other-address.js';
import { ComparedRows, findRepeats } from './repeats.js';

/** A dead letter, and its row. */
export type Letter = { readonly index: number; readonly row: PlannedOrder };

type Compared = { readonly judged: string; readonly paid: ReadonlyMap<number, OrderId> };

/**
 * Dead letters of one batch on their way back to work. Those without references, whose rows another file was given for
 * since, or of which an equal order of another batch was retried, stay: to retry them as well would pay them twice.
 * They are compared as those of a failed.csv are, all that the batch has of a row, whichever of them were named: one
 * by one and together they get the same answers. Under another address any of them may have been paid since: they pass
 * the gate of every import.
 */
export class PaidSince {
  private readonly named = new BareRows();
  private comparing: Promise<Compared> | undefined;

  constructor(
    private readonly ref: BatchRef,
    letters: readonly Letter[],
    /** Other addresses of the realm that the person has seen. */
    private readonly seen: readonly EarlierAddress[] = [],
  ) {
    for (const { index, row } of letters)
      if (row.reference === null) this.named.add(index, row.line, contentWords(contentHash(row.order)));
  }

  /** Where another batch was sealed or retried since the comparison, or another address asked, all are compared again. */
  async retry({ index, row }: Letter, by: RetriedBy): Promise<'ok' | Refusal> {
    for (;;) {
      this.comparing ??= this.compare(by);
      const { comparing } = this;
      const compared = await comparing.catch(leftAlone);
      if ('why' in compared) return compared;
      const { judged, paid } = compared;
      const other = paid.get(index);
      if (other !== undefined)
        return {
          why: `the same row is order ${other} by now, which is paid or may still be; where both are meant, run its row of failed.csv with --again LABEL`,
        };
      const answer = await retryOrder(this.ref, index, row, by, judged);
      if (answer !== 'moved') return answer;
      if (this.comparing === comparing) this.comparing = undefined;
    }
  }

  private async compare(by: RetriedBy): Promise<Compared> {
    const judged = await judgedBeside(this.ref);
    await passAddresses(this.ref.ledger, this.seen, by);
    const paid = new Map<number, OrderId>();
    const view = await readBatch(this.ref);
    if (view === undefined || this.named.size === 0) return { judged, paid };
    const rows = new ComparedRows(view.manifest.currency);
    rows.exact = true;
    const sketch = await readSketch(this.ref);
    for await (const equal of equalOrders(this.ref, view.manifest.rows, sketch, [this.named]))
      for (const order of equal)
        if (isBareLetter(order)) rows.add(order.index, order.row.line, order.words, this.ref.no);
    for (const { batch, rows: found } of (await findRepeats(this.ref.ledger, rows, by.at)).batches)
      for (const [index, , order] of found) paid.set(index, orderId(batch, order));
    return { judged, paid };
  }
}

/** What a retry could pay: neither what was discarded, nor what a row of another file stands in for. */
function isBareLetter({ row, record: { code, marks } }: EqualOrder): boolean {
  return (
    row.reference === null && isPlannedOrder(row) && (code === 'R' || code === 'X') && marks.length === 0
  );
}

/** Others of the same command may be back to work: this one alone is refused. */
function leftAlone(error: unknown): Refusal {
  if (isAlmonerError(error, 'ALM_PLAN_OTHER_ADDRESS'))
    return { why: 'its realm was paid under another address meanwhile; retry it again to see where' };
  if (isAlmonerError(error) && error.code.startsWith('ALM_LEDGER_ARCHIVE_')) return { why: error.message };
  throw error;
}
