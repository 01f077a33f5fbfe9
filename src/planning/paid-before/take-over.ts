import { type BatchId, orderId, parseOrderId } from '../../core/ids.js';
import { NO_SUMS, type OpSums, plus, sumOf } from '../../core/op-sums.js';
import { contentOf } from '../../core/order.js';
import { PLAN_BLOCK_ROWS, type PlanRow, planning, reading } from '../../ledger/index.js';

/** The rows of a file whose orders were recovered from journals: they are in the batch, and nothing of them is planned. */
export type TakenOver = {
  readonly indexes: ReadonlySet<number>;
  readonly tokens: OpSums;
  /** Those among them whose references other batches hold, which were counted as spent by them. */
  readonly heldElsewhere: { readonly count: number; readonly tokens: OpSums };
};

/**
 * Takes the orders of a recovered batch out of what the blocks claim. Null where the file has other orders in their
 * places, so that it is another batch under the same id.
 */
export function takeOver(
  { id, rows: recovered }: planning.RecoveredBatch,
  blocks: Buffer[],
  claims: planning.BlockClaims[],
): TakenOver | null {
  let [tokens, heldTokens, held] = [NO_SUMS, NO_SUMS, 0];
  for (const [block, indexes] of byBlock([...recovered.keys()])) {
    const [bytes, claimed] = [blocks[block], claims[block]];
    if (bytes === undefined || claimed === undefined) return null;
    const first = block * PLAN_BLOCK_ROWS + 1;
    const rows = planning.blocks.decode(bytes);
    for (const index of indexes) {
      const row = rows[index - first];
      const { order } = row ?? reading.orders.unknownRow;
      if (row === undefined || order === null || !isSame(row, recovered.get(index))) return null;
      const by = holderOf(row, id, index);
      if (by === 'file') return null;
      if (by === 'other') [held, heldTokens] = [held + 1, plus(heldTokens, sumOf(order.op, order.tokens))];
      tokens = plus(tokens, sumOf(order.op, order.tokens));
      rows[index - first] = { ...row, duplicateOf: null };
    }
    blocks[block] = planning.blocks.encode(rows);
    claims[block] = planning.blocks.without(claimed, { first, rows }, new Set(indexes));
  }
  return {
    indexes: new Set(recovered.keys()),
    tokens,
    heldElsewhere: { count: held, tokens: heldTokens },
  };
}

function byBlock(indexes: readonly number[]): Map<number, number[]> {
  const blocks = new Map<number, number[]>();
  for (const index of indexes) {
    const block = Math.floor((index - 1) / PLAN_BLOCK_ROWS);
    blocks.set(block, [...(blocks.get(block) ?? []), index]);
  }
  return blocks;
}

function isSame(row: PlanRow, recovered: PlanRow | undefined): boolean {
  if (row.order === null || recovered?.order == null) return false;
  return contentOf(row.order) === contentOf(recovered.order) && row.reference === recovered.reference;
}

/** Whose the row's reference is by the plan: its own order's, that of an order of another batch, or of a row above it. */
function holderOf({ duplicateOf }: PlanRow, id: BatchId, index: number): 'own' | 'other' | 'file' {
  if (duplicateOf === null || duplicateOf === orderId(id, index)) return 'own';
  return parseOrderId(duplicateOf) === undefined ? 'file' : 'other';
}
