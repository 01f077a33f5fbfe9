import type { ErrorCode } from '../../core/errors/catalogue.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { DeadState } from '../../core/states.js';
import {
  type BatchRef,
  batchRef,
  type OrderRecord,
  type RowView,
  readBatch,
  reading,
  type ScriptClient,
  steering,
} from '../../ledger/index.js';
import { fileHeader, fileLine } from '../../report/csv-files.js';
import { chooseBatches, contextOf, idOf, type OrderPlace, orderFinder } from '../orders/find-orders.js';
import type { BatchStatus } from '../views/batch.js';
import type { OrderRow } from '../views/order.js';
import { orderRow } from './order-row.js';
import { unfinishedImports } from './unfinished-imports.js';

export type DeadFilter = {
  readonly batch?: string | undefined;
  readonly realm?: string | undefined;
  readonly class?: ErrorCode | undefined;
  readonly state?: DeadState | undefined;
  /** Also those that an operator discarded or put into another file. */
  readonly all?: boolean;
};

/** Orders that ended without being paid: listed from the ledger, which knows all of them, without a scan. */
export async function* deadLetters(scripts: ScriptClient, filter: DeadFilter): AsyncGenerator<OrderRow> {
  for (const ref of await chooseBatches(scripts, filter))
    for await (const row of deadRows(ref, filter)) yield orderRow(ref, row);
}

async function* deadRows(
  ref: BatchRef,
  filter: Pick<DeadFilter, 'class' | 'state' | 'all'>,
): AsyncGenerator<RowView> {
  const states = filter.state === undefined ? (['refused', 'exhausted', 'doubt'] as const) : [filter.state];
  if ((await readBatch(ref)) === undefined) return;
  const context = await contextOf(ref);
  try {
    for (const state of states)
      for await (const row of reading.unsettled.rows(context, state)) {
        if (filter.class !== undefined && row.errorCode !== filter.class) continue;
        if (filter.all === true || row.marks.length === 0) yield row;
      }
  } catch (error) {
    // Its rows are on another machine; the letters are counted all the same.
    if (!reading.isArchiveAway(error)) throw error;
  }
}

/** Dead letters that are hidden because their rows stand in imports that did not finish: nothing pays those. */
export type HeldLetters = { readonly batch: string; readonly orders: number };

export async function heldByImports(scripts: ScriptClient, filter: DeadFilter): Promise<HeldLetters[]> {
  // Seldom any: the letters are read a second time only where there is one.
  if ((await unfinishedImports(scripts)).length === 0) return [];
  const held = new Map<string, number>();
  const all = { ...filter, all: true };
  for (const ref of await chooseBatches(scripts, all))
    for await (const { index, marks } of deadRows(ref, all)) {
      if (!marks.includes('replaced') || marks.includes('discarded')) continue;
      const { replacedBy } = await reading.orders.record(ref, index);
      if (replacedBy === null) continue;
      const { batch, unfinished } = await steering.deadLetters.standIn(ref.ledger, replacedBy);
      if (unfinished) held.set(batch, (held.get(batch) ?? 0) + 1);
    }
  return [...held].map(([batch, orders]) => ({ batch, orders }));
}

/** What retry and discard are given: orders by name, or all of a batch, perhaps of one class. */
export type DeadSelection =
  | { readonly orders: readonly string[] }
  | { readonly batch: string; readonly class?: ErrorCode | undefined };

/**
 * Counts before anything is done. Named orders are taken as they are, so that each gets its own refusal; of
 * a whole batch those that a person is done with, and doubts, are left alone and only counted.
 */
export async function chooseDead(scripts: ScriptClient, selection: DeadSelection, realm?: string) {
  if ('orders' in selection) {
    const places = new Map<string, OrderPlace>();
    const find = orderFinder(scripts, realm);
    for (const text of selection.orders) {
      const place = await find(text);
      places.set(`${place.ref.ledger.id} ${idOf(place)}`, place);
    }
    return { places: [...places.values()], discarded: 0, doubts: 0 };
  }
  const [ref] = await chooseBatches(scripts, { batch: selection.batch, realm });
  const places: OrderPlace[] = [];
  let discarded = 0;
  let doubts = 0;
  if (ref !== undefined)
    for await (const row of deadRows(ref, { class: selection.class, all: true })) {
      if (row.state === 'doubt') doubts += 1;
      else if (row.marks.includes('discarded')) discarded += 1;
      else places.push({ ref, index: row.index });
    }
  return { places, discarded, doubts };
}

/**
 * The dead letters that may still be mended, as the same CSV as failed.csv: run again, each row carries its
 * order and marks it as replaced.
 */
export async function exportDead(
  ref: BatchRef,
  write: (text: string) => Promise<void> | undefined,
): Promise<{ readonly rows: number; readonly currency: string | null }> {
  const view = await readBatch(ref);
  if (view === undefined)
    throw new AlmonerError('ALM_BATCH_CANNOT', `Batch ${ref.id} was never completely imported.`);
  const { manifest } = view;
  let rows = 0;
  await write(fileHeader('failed', manifest));
  // What stands in an archive cannot be replaced.
  const { currency } = manifest;
  if (view.archived) return { rows, currency };
  for await (const row of inFileOrder(
    deadRows(ref, { state: 'refused' }),
    deadRows(ref, { state: 'exhausted' }),
  )) {
    await write(fileLine('failed', row, manifest));
    rows += 1;
  }
  return { rows, currency };
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

const AT_ONCE = 64;

/**
 * Where the dead letters of a batch went, once none of them is left to be mended or retried. Null while one is left,
 * which is found among the first as a rule: files are mended whole.
 */
export async function deadGone(ref: BatchRef): Promise<BatchStatus['deadGone']> {
  const gone = { discarded: 0, replaced: 0 };
  /** The batches whose rows stand in for them. */
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
    const read = () => Promise.all(page.splice(0).map((index) => reading.orders.record(ref, index)));
    for await (const index of reading.unsettled.indexes(ref, state))
      if (page.push(index) === AT_ONCE) yield* await read();
    yield* await read();
  }
}
