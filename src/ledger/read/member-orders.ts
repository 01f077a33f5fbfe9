import { effectsOf } from '../../core/order.js';
import { PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock, mayMention } from '../plan-block.js';
import { batchSource } from './batch-source.js';
import type { BatchRef } from './batches.js';

/**
 * Which orders of a batch touch a member. There is no index by member: it would cost every paid order its
 * bytes for a question that is asked now and then. The plan is scanned block by block instead, and memory
 * does not grow with it.
 */
const BLOCKS_AT_ONCE = 16;

export async function* ordersTouching(
  ref: BatchRef,
  rows: number,
  member: string,
  onScanned: (rows: number) => void = () => {},
): AsyncGenerator<number> {
  const source = await batchSource(ref);
  const blocks = Math.ceil(rows / PLAN_BLOCK_ROWS);
  for (let first = 0; first < blocks; first += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, blocks - first) }, (_, i) => first + i);
    const read = await Promise.all(numbers.map((block) => source.plan(block)));
    for (const [i, bytes] of read.entries())
      if (bytes !== null && mayMention(bytes, member))
        for (const [offset, { order }] of decodePlanBlock(bytes).entries())
          if (order !== null && effectsOf(order).some((effect) => effect.member === member))
            yield (first + i) * PLAN_BLOCK_ROWS + offset + 1;
    onScanned(Math.min((first + numbers.length) * PLAN_BLOCK_ROWS, rows));
  }
}
