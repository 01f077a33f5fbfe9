import { AlmonerError } from '../../core/errors/error.js';
import { type BatchRef, readBatch } from '../../ledger/batches.js';
import type { RowView } from '../../ledger/views.js';
import { fileHeader, fileLine } from '../../report/files.js';
import { deadRows } from './dead-letters.js';

/**
 * The dead letters that may still be mended, as the same CSV as failed.csv: run again, each row carries its
 * order and marks it as replaced.
 */
export async function exportDead(
  ref: BatchRef,
  write: (text: string) => Promise<void> | undefined,
): Promise<{ readonly rows: number }> {
  const view = await readBatch(ref);
  if (view === undefined)
    throw new AlmonerError('ALM_BATCH_CANNOT', `Batch ${ref.id} was never completely imported.`);
  const { manifest } = view;
  let rows = 0;
  await write(fileHeader('failed', manifest));
  for await (const row of inFileOrder(
    deadRows(ref, { state: 'refused' }),
    deadRows(ref, { state: 'exhausted' }),
  )) {
    await write(fileLine('failed', row, manifest));
    rows += 1;
  }
  return { rows };
}

/** Each list is in file order by itself; the two are merged as they come. */
async function* inFileOrder(a: AsyncGenerator<RowView>, b: AsyncGenerator<RowView>): AsyncGenerator<RowView> {
  let [left, right] = [await a.next(), await b.next()];
  while (left.done !== true || right.done !== true) {
    if (right.done === true || (left.done !== true && left.value.index < right.value.index)) {
      yield left.value;
      left = await a.next();
    } else {
      yield right.value;
      right = await b.next();
    }
  }
}
