import type { OrderState } from '../../core/states.js';
import { batchKeys } from '../keys.js';
import type { BatchRef } from '../realm-ledger.js';
import type { RowView } from '../views.js';
import { type RowContext, readRow } from './rows.js';

/**
 * Orders that are neither planned nor paid stand in one sorted set per batch, scored by state and index
 * (see includes/move.lua): any list of them is a range, never a scan.
 */
const RANKS = {
  sending: 1,
  unknown: 2,
  refused: 3,
  exhausted: 4,
  doubt: 5,
} as const satisfies Partial<Record<OrderState, number>>;
export type UnsettledState = keyof typeof RANKS;

const SPAN = 2 ** 32;

async function* pages(
  ref: BatchRef,
  state: UnsettledState,
  limit: number,
  from = 0,
): AsyncGenerator<number[]> {
  for (let after = from; ; ) {
    const page = await attentionPage(ref, state, after, limit);
    yield page;
    if (page.length < limit) return;
    after = page.at(-1) ?? after;
  }
}

/** Indexes of the orders in a state, in file order, read page by page. */
export async function* attention(ref: BatchRef, state: UnsettledState): AsyncGenerator<number> {
  for await (const page of pages(ref, state, 1000)) yield* page;
}

/** The same orders as views, in file order; one that has left the state meanwhile is left out. */
export async function* attentionRows(
  context: RowContext,
  state: UnsettledState,
  after = 0,
): AsyncGenerator<RowView> {
  for await (const page of pages(context.ref, state, 64, after)) {
    const rows = await Promise.all(page.map((index) => readRow(context, index)));
    yield* rows.filter((row) => row.state === state);
  }
}

/** One page of the orders in a state, in file order: their indexes, beginning after the given one. */
export async function attentionPage(
  ref: BatchRef,
  state: UnsettledState,
  after: number,
  limit: number,
): Promise<number[]> {
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).attention;
  const floor = RANKS[state] * SPAN;
  const members = await ref.ledger.scripts.ask('list orders', (redis) =>
    redis.zrangebyscore(key, `(${floor + after}`, floor + SPAN - 1, 'LIMIT', 0, limit),
  );
  return members.map(Number);
}

/** How many of them stand at or before an index. */
export async function attentionCount(ref: BatchRef, state: UnsettledState, upTo: number): Promise<number> {
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).attention;
  const floor = RANKS[state] * SPAN;
  return ref.ledger.scripts.ask('count orders', (redis) => redis.zcount(key, floor, floor + upTo));
}

export function isUnsettledState(state: string): state is UnsettledState {
  return Object.hasOwn(RANKS, state);
}
