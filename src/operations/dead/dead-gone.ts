import { attention, type BatchRef, batchRef, type OrderRecord, readRecord } from '../../ledger/index.js';

/** Where the dead letters of a batch went, once none of them is left to be mended or retried. */
export type DeadGone = {
  readonly discarded: number;
  readonly replaced: number;
  /** The batches whose rows stand in for them. */
  readonly into: readonly string[];
};

const AT_ONCE = 64;

/** Null while one is left, which is found among the first as a rule: files are mended whole. */
export async function deadGone(ref: BatchRef): Promise<DeadGone | null> {
  const gone = { discarded: 0, replaced: 0 };
  const into = new Set<string>();
  for await (const { marks, replacedBy } of deadRecords(ref)) {
    if (marks.length === 0) return null;
    gone[replacedBy === null ? 'discarded' : 'replaced'] += 1;
    if (replacedBy !== null) into.add(replacedBy);
  }
  if (gone.discarded + gone.replaced === 0) return null;
  const numbers = [...into].sort((a, b) => Number(a) - Number(b));
  const batches = await Promise.all(numbers.map((no) => batchRef(ref.ledger, no)));
  return { ...gone, into: batches.map(({ id }) => id) };
}

async function* deadRecords(ref: BatchRef): AsyncGenerator<OrderRecord> {
  for (const state of ['refused', 'exhausted'] as const) {
    const page: number[] = [];
    const read = () => Promise.all(page.splice(0).map((index) => readRecord(ref, index)));
    for await (const index of attention(ref, state)) if (page.push(index) === AT_ONCE) yield* await read();
    yield* await read();
  }
}
