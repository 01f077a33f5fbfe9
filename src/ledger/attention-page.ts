import { type AttentionState, RANKS, SPAN } from './attention.js';
import type { BatchRef } from './batches.js';
import { batchKeys } from './keys.js';

/** One page of the orders in a state, in file order: their indexes, beginning after the given one. */
export async function attentionPage(
  ref: BatchRef,
  state: AttentionState,
  after: number,
  limit: number,
): Promise<number[]> {
  const { redis } = ref.books.caller;
  const key = batchKeys(ref.books.realm, ref.no).attention;
  const floor = RANKS[state] * SPAN;
  const members = await ref.books.caller.patiently('list orders', () =>
    redis.zrangebyscore(key, `(${floor + after}`, floor + SPAN - 1, 'LIMIT', 0, limit),
  );
  return members.map(Number);
}

/** How many of them stand at or before an index. */
export async function attentionCount(ref: BatchRef, state: AttentionState, upTo: number): Promise<number> {
  const { redis } = ref.books.caller;
  const key = batchKeys(ref.books.realm, ref.no).attention;
  const floor = RANKS[state] * SPAN;
  return ref.books.caller.patiently('count orders', () => redis.zcount(key, floor, floor + upTo));
}

export function isAttentionState(state: string): state is AttentionState {
  return Object.hasOwn(RANKS, state);
}
