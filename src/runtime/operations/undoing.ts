import { AlmonerError } from '../../core/errors/error.js';
import type { BatchRef } from '../../ledger/batches.js';
import { findSpent, PlanReader } from '../../ledger/plan-store.js';
import { snapshotBatch } from '../../ledger/snapshot.js';
import type { RowView } from '../../ledger/views.js';
import { csvLine } from '../../report/csv-line.js';
import { batchStatus } from './batch-status.js';

/**
 * The CSV that takes back what a batch paid. Nothing is compensated by itself: running the file is a new
 * batch that a person starts. Each row's reference names the order it undoes, so that no order is undone
 * twice, and a paid undo frees the reference of the order it undid.
 */
export type Undo = {
  readonly rows: number;
  readonly tokens: bigint;
  readonly alreadyUndone: readonly string[];
  readonly doubts: readonly string[];
  /** Taken back too, but their payment rests on an operator's word. */
  readonly paidOnWord: readonly string[];
};

const COLUMNS = ['member', 'recipient', 'op', 'tokens', 'reference', 'reason'] as const;
const ASK_AT_ONCE = 256;

export async function writeUndo(
  ref: BatchRef,
  write: (text: string) => Promise<void> | undefined,
): Promise<Undo> {
  await refuseWhileMoving(ref);
  const { batch, rows } = await snapshotBatch(ref, new PlanReader(ref.books), []);
  const { delimiter, currency } = batch.manifest;
  // A check, so that what was paid in one currency is not taken back in another.
  const inCurrency = (name: string) => (currency === null ? [] : [name]);
  const alreadyUndone: string[] = [];
  const doubts: string[] = [];
  const paidOnWord: string[] = [];
  let count = 0;
  let tokens = 0n;
  let pending: RowView[] = [];
  const flush = async () => {
    const spent = await findSpent(ref.books, pending.map(undoReference));
    for (const row of pending) {
      if (spent.has(undoReference(row))) {
        alreadyUndone.push(row.order);
        continue;
      }
      await write(csvLine([...undoCells(row), ...inCurrency(currency ?? '')], delimiter));
      if (row.evidence === 'operator') paidOnWord.push(row.order);
      count += 1;
      tokens += BigInt(row.tokens ?? 0);
    }
    pending = [];
  };
  await write(csvLine([...COLUMNS, ...inCurrency('currency')], delimiter));
  for await (const row of rows) {
    if (row.state === 'doubt') doubts.push(row.order);
    if (row.state !== 'paid') continue;
    pending.push(row);
    if (pending.length === ASK_AT_ONCE) await flush();
  }
  await flush();
  return { rows: count, tokens, alreadyUndone, doubts, paidOnWord };
}

/** What is not settled yet would be missing from the file, and be paid after all. */
async function refuseWhileMoving(ref: BatchRef): Promise<void> {
  const { state, counts } = await batchStatus(ref);
  const { sending = 0, unknown = 0 } = counts;
  if (state !== 'running' && state !== 'planned' && sending + unknown === 0) return;
  const moving = sending + unknown === 0 ? '' : `; ${sending} orders are being sent and ${unknown} resolved`;
  throw new AlmonerError(
    'ALM_BATCH_CANNOT',
    `Batch ${ref.id} is ${state}${moving}: what it paid is not certain yet. No undo file was written.`,
    {
      next: `Wait until it is done, or stop it with \`almoner pause ${ref.id}\` or \`almoner cancel ${ref.id}\`.`,
    },
  );
}

function undoReference(row: RowView): string {
  return `undo:${row.order}`;
}

function undoCells(row: RowView): (string | number | null)[] {
  const why = row.reason === null ? '' : `: ${row.reason}`;
  const end = [row.tokens, undoReference(row), `undo of ${row.order}${why}`];
  switch (row.op) {
    case 'credit':
      return [row.member, '', 'debit', ...end];
    case 'debit':
      return [row.member, '', 'credit', ...end];
    case 'transfer':
      return [row.recipient, row.member, 'transfer', ...end];
    case null:
      throw new Error(`order ${row.order} is paid and has no content`);
  }
}
