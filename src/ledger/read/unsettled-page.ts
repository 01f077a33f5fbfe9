import { batchKeys } from '../keys.js';
import type { BatchRef } from './batches.js';
import { RANKS, SPAN, type UnsettledState } from './unsettled.js';

/** One page of the orders in a state, in file order: their indexes, beginning after the given one. */
export async function attentionPage(
  ref: BatchRef,
  state: UnsettledState,
  after: number,
  limit: number,
): Promise<number[]> {
  const { redis } = ref.ledger.scripts;
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).attention;
  const floor = RANKS[state] * SPAN;
  const members = await ref.ledger.scripts.retryWhileAway('list orders', () =>
    redis.zrangebyscore(key, `(${floor + after}`, floor + SPAN - 1, 'LIMIT', 0, limit),
  );
  return members.map(Number);
}

/** How many of them stand at or before an index. */
export async function attentionCount(ref: BatchRef, state: UnsettledState, upTo: number): Promise<number> {
  const { redis } = ref.ledger.scripts;
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).attention;
  const floor = RANKS[state] * SPAN;
  return ref.ledger.scripts.retryWhileAway('count orders', () => redis.zcount(key, floor, floor + upTo));
}

export function isUnsettledState(state: string): state is UnsettledState {
  return Object.hasOwn(RANKS, state);
}
