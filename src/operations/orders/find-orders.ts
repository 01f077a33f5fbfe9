import { AlmonerError } from '../../core/errors/error.js';
import { type OrderId, orderId } from '../../core/ids.js';
import {
  type BatchRef,
  findBatch,
  lists,
  readBatch,
  reading,
  type ScriptClient,
} from '../../ledger/index.js';
import { counted } from '../../words/spelling.js';

/** Finding the batches and orders that a person names. */

/** An order's place in the ledger. */
export type OrderPlace = { readonly ref: BatchRef; readonly index: number };

export function idOf({ ref, index }: OrderPlace): OrderId {
  return orderId(ref.id, index);
}

/** `<batch>-<index>`; for the batch a unique prefix or `last` will do. Each batch is looked up once. */
export function orderFinder(scripts: ScriptClient, realm?: string): (text: string) => Promise<OrderPlace> {
  const batches = new Map<string, Promise<{ ref: BatchRef; rows: number }>>();
  const batchOf = async (wanted: string) => {
    const ref = await findBatch(scripts, wanted, realm);
    return { ref, rows: (await readBatch(ref))?.lastIndex ?? 0 };
  };
  return async (text) => {
    const match = /^(.+)-([1-9][0-9]{0,8})$/.exec(text);
    if (match === null)
      throw new AlmonerError(
        'ALM_BATCH_ORDER_NOT_FOUND',
        `${JSON.stringify(text)} is no order id; expected BATCH-NUMBER. Nothing was done.`,
      );
    const wanted = match[1] ?? '';
    const found = batches.get(wanted) ?? batchOf(wanted);
    batches.set(wanted, found);
    const { ref, rows } = await found;
    const index = Number(match[2]);
    if (index > rows)
      throw new AlmonerError(
        'ALM_BATCH_ORDER_NOT_FOUND',
        `Batch ${ref.id} has ${counted(rows, 'row')}, so there is no order ${text}. Nothing was done.`,
      );
    return { ref, index };
  };
}

/**
 * An order that a person decides: `ORDER:DOUBT`, or the order alone where it was in doubt once. The number of the doubt
 * keeps a decision about an earlier doubt from ending a later one.
 */
export type NamedDoubt = { readonly order: string; readonly doubt: string | null };

export function readDoubtName(text: string): NamedDoubt {
  const match = /^(.*):(d[1-9][0-9]*-[0-9a-f]{4})$/.exec(text);
  return { order: match?.[1] ?? text, doubt: match?.[2] ?? null };
}

export function doubtName(order: string, doubt: string | null): string {
  return doubt === null ? order : `${order}:${doubt}`;
}

export function findOrder(scripts: ScriptClient, text: string, realm?: string): Promise<OrderPlace> {
  return orderFinder(scripts, realm)(text);
}

/** The named batch, or all that hold dead letters or doubts; `all`: also those whose letters somebody has dealt with. */
export async function chooseBatches(
  scripts: ScriptClient,
  named: { readonly batch?: string | undefined; readonly realm?: string | undefined; readonly all?: boolean },
): Promise<BatchRef[]> {
  if (named.batch !== undefined) return [await findBatch(scripts, named.batch, named.realm)];
  const marked = named.all === true ? (['aside'] as const) : [];
  return lists.everyBatchIn(scripts, ['dead', 'doubts', ...marked], named.realm);
}

export function contextOf(ref: BatchRef): Promise<reading.RowContext> {
  return reading.orders.context(ref, new reading.PlanReader(ref.ledger));
}

/** One context for each batch, shared by the thousands of its orders that are asked about. */
export function sharedContexts(): (ref: BatchRef) => Promise<reading.RowContext> {
  const known = new Map<string, Promise<reading.RowContext>>();
  return (ref) => {
    const key = `${ref.ledger.id} ${ref.no}`;
    const context = known.get(key) ?? contextOf(ref);
    known.set(key, context);
    return context;
  };
}
