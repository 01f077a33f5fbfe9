import { isDeepStrictEqual } from 'node:util';
import type { Op } from '../../core/order.js';
import {
  type BatchRef,
  lists,
  PLAN_BLOCK_ROWS,
  readBatch,
  reading,
  type StoredBatch,
} from '../../ledger/index.js';

/** How a batch differs from the last one that paid somebody and whose file had the same header: what a second person looks at first. */
export type Difference = {
  readonly batch: string;
  readonly source: string;
  readonly createdAt: number;
  /** Orders that stand in both alike. */
  readonly same: number;
  readonly added: Side;
  readonly gone: Side;
  /** The same member, with another amount. */
  readonly changed: Side;
};
type Side = { readonly orders: number; readonly examples: readonly OrderChange[] };
export type OrderChange = {
  readonly op: Op;
  readonly member: string;
  readonly recipient: string | null;
  readonly before: number | null;
  readonly now: number | null;
};

/** Beyond this the comparison would take more memory than a desk should. */
const COMPARED_ROWS_MAX = 200_000;
/** A file like this one that was paid so many batches ago is no yardstick either. */
const LOOKED_AT_MAX = 2_000;
const EXAMPLES = 20;

/** Null where there is no such batch; `too-many` where they are too large to be held side by side. */
export async function differenceToLast(
  ref: BatchRef,
  { manifest, lastIndex }: StoredBatch,
): Promise<Difference | 'too-many' | null> {
  const last = await lastLike(ref, manifest);
  if (last === null) return null;
  const { manifest: earlier } = last.view;
  if (Math.max(manifest.rows, earlier.rows) > COMPARED_ROWS_MAX) return 'too-many';
  const before = await amountsOf(last.ref, last.view.lastIndex);
  const now = await amountsOf(ref, lastIndex);
  const sides = { added: side(), gone: side(), changed: side() };
  let same = 0;
  for (const [key, ofNow] of now) {
    const ofBefore = before.get(key) ?? [];
    before.delete(key);
    const left = [...ofBefore];
    const other: number[] = [];
    for (const tokens of ofNow) {
      const at = left.indexOf(tokens);
      if (at < 0) other.push(tokens);
      else left.splice(at, 1);
    }
    same += ofNow.length - other.length;
    for (const tokens of other) {
      const was = left.shift() ?? null;
      sides[was === null ? 'added' : 'changed'].note(key, was, tokens);
    }
    for (const tokens of left) sides.gone.note(key, tokens, null);
  }
  for (const [key, amounts] of before) for (const tokens of amounts) sides.gone.note(key, tokens, null);
  const { added, gone, changed } = sides;
  const { batch, source, createdAt } = earlier;
  return { batch, source, createdAt, same, added: added.seen, gone: gone.seen, changed: changed.seen };
}

async function lastLike({ ledger, id }: BatchRef, { header, createdAt, currency }: StoredBatch['manifest']) {
  let looked = 0;
  for await (const ref of lists.newestFirst(ledger)) {
    looked += 1;
    if (looked > LOOKED_AT_MAX) break;
    const view = ref.id === id ? undefined : await readBatch(ref);
    // What paid nobody is no yardstick: whoever prepares could choose it.
    if (view === undefined || view.manifest.createdAt > createdAt || (view.counts.paid ?? 0) === 0) continue;
    const { manifest } = view;
    if (manifest.currency === currency && isDeepStrictEqual(manifest.header, header)) return { ref, view };
  }
  return null;
}

/** Amounts by who gets or gives them. */
async function amountsOf(ref: BatchRef, rows: number): Promise<Map<string, number[]>> {
  const source = await reading.BatchBlocks.open(ref);
  const amounts = new Map<string, number[]>();
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const plan = await source.plan(block);
    if (plan === null) continue;
    for (const { order } of plan.rows()) {
      if (order === null) continue;
      const key = `${order.op} ${order.member} ${order.recipient ?? ''}`;
      const known = amounts.get(key);
      if (known === undefined) amounts.set(key, [order.tokens]);
      else known.push(order.tokens);
    }
  }
  return amounts;
}

function side() {
  const examples: OrderChange[] = [];
  const seen = { orders: 0, examples };
  return {
    seen,
    note(key: string, before: number | null, now: number | null) {
      seen.orders += 1;
      if (examples.length >= EXAMPLES) return;
      const [op, member = '', recipient = ''] = key.split(' ');
      examples.push({ op: op as Op, member, recipient: recipient || null, before, now });
    },
  };
}
