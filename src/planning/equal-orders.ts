import { AlmonerError } from '../core/errors/error.js';
import type { Order } from '../core/order.js';
import { type ContentWords, contentHash, contentWords, SKETCH_ROW_BYTES } from '../core/reference.js';
import {
  type BatchRef,
  BLOCK_ORDERS,
  batchSource,
  decodePlanBlock,
  decodeRecord,
  type OrderRecord,
  PLAN_BLOCK_ROWS,
  type PlanRow,
} from '../ledger/index.js';
import type { BareRows } from './bare-rows.js';

/**
 * The orders of a batch with the content of some rows. Its sketch, one word of each row's content, names the blocks
 * worth looking at; without one (a batch of an older version, or archived long ago) that is every block.
 */
export type EqualOrder = {
  readonly index: number;
  readonly row: PlanRow & { readonly order: Order };
  readonly record: OrderRecord;
  readonly words: ContentWords;
};

/** The rows of a block that may have the content of one of these. */
export function sketchHits(
  sketch: Buffer | null,
  block: number,
  wanted: readonly BareRows[],
): [index: number, word: number][] {
  const hits: [number, number][] = [];
  const first = block * PLAN_BLOCK_ROWS;
  const end = Math.min((sketch?.length ?? 0) / SKETCH_ROW_BYTES, first + PLAN_BLOCK_ROWS);
  for (let row = first; row < end; row++) {
    const word = sketch?.readUInt32LE(row * SKETCH_ROW_BYTES) ?? 0;
    if (wanted.some((rows) => rows.find(word, null) !== -1)) hits.push([row + 1, word]);
  }
  return hits;
}

/** In the file's order, block by block. */
export async function* equalOrders(
  ref: BatchRef,
  rows: number,
  sketch: Buffer | null,
  wanted: readonly BareRows[],
): AsyncGenerator<readonly EqualOrder[]> {
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++)
    if (sketch === null || sketchHits(sketch, block, wanted).length > 0)
      yield await equalInBlock(ref, block, wanted);
}

async function equalInBlock(
  ref: BatchRef,
  block: number,
  wanted: readonly BareRows[],
): Promise<EqualOrder[]> {
  const { plan, records } = await readBlock(ref, block);
  return decodePlanBlock(plan).flatMap((row, offset) => {
    const { order } = row;
    if (order === null) return [];
    const index = block * PLAN_BLOCK_ROWS + offset + 1;
    const words = contentWords(contentHash(order));
    if (!wanted.some((one) => one.find(...words) !== -1)) return [];
    return [{ index, row: { ...row, order }, record: decodeRecord(records[String(index)]), words }];
  });
}

async function readBlock(ref: BatchRef, block: number) {
  const perPlan = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
  const numbers = Array.from({ length: perPlan }, (_, i) => block * perPlan + i);
  // A batch may be archived under a reader. Its block leaves the store in one step, so a plan that is there after
  // the records says that they were.
  for (const last of [false, true]) {
    const source = await batchSource(ref);
    const records: Record<string, string> = Object.assign(
      {},
      ...(await Promise.all(numbers.map((one) => source.records(one)))),
    );
    const plan = await source.plan(block);
    if (plan !== null) return { plan, records };
    if (last) break;
  }
  throw new AlmonerError(
    'ALM_LEDGER_PLAN_MISSING',
    `Block ${block} of the plan of batch ${ref.id} is not in the store. Nothing was compared with it.`,
  );
}
