import { isErrorCode } from '../../core/errors/catalogue.js';
import { orderId } from '../../core/ids.js';
import type { OrderState } from '../../core/states.js';
import { BLOCK_ORDERS, batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodeEvent, type Named, type OrderEvent, tracesOf } from '../order-event.js';
import { type PlanRow, UNKNOWN_ROW } from '../plan-block.js';
import type { BatchPlace, BatchRef } from '../realm-ledger.js';
import { decodeRecord, type OrderRecord, STATE_CODES } from '../record.js';
import type { RowView } from '../views.js';
import { batchSource, storeSource } from './batch-source.js';
import { readBatch } from './batches.js';
import type { PlanReader } from './plan-reader.js';

/** Rows of a batch as views: plan and record put together, with the last trouble of those that met any. */

export type RowContext = { readonly ref: BatchRef; readonly plans: PlanReader; readonly cancelled: boolean };

export async function rowContext(ref: BatchRef, plans: PlanReader): Promise<RowContext> {
  return { ref, plans, cancelled: (await readBatch(ref))?.state === 'cancelled' };
}

export async function readRecord(ref: BatchPlace, index: number): Promise<OrderRecord> {
  const block = Math.floor((index - 1) / BLOCK_ORDERS);
  const key = batchKeys(ref.ledger.keyPrefix, ref.no).records(block);
  const stored = await ref.ledger.scripts.ask('read order', (redis) => redis.hget(key, String(index)));
  if (stored !== null) return decodeRecord(stored);
  const records = await (await batchSource(ref)).records(block);
  return decodeRecord(records[String(index)]);
}

export async function readDetails(ref: BatchPlace, index: number): Promise<OrderEvent[]> {
  const stored = await storeSource(ref).details(index);
  return (stored.length > 0 ? stored : await (await batchSource(ref)).details(index)).map(decodeEvent);
}

export async function readRow(context: RowContext, index: number): Promise<RowView> {
  const [row, record, details] = await Promise.all([
    context.plans.row(context.ref.no, index),
    readRecord(context.ref, index),
    readDetails(context.ref, index),
  ]);
  return rowView(context, index, row, { record, details });
}

/**
 * The records of a whole batch, one text per block so that a million orders stay in some fifty megabytes.
 * Each order is in exactly one state when its block is read; that is the snapshot a report is made of.
 */
export class RecordSnapshot {
  private constructor(private readonly blocks: readonly string[]) {}

  static async take(ref: BatchRef, rows: number): Promise<RecordSnapshot> {
    const source = await batchSource(ref);
    const blocks: string[] = [];
    const count = Math.ceil(rows / BLOCK_ORDERS);
    for (let first = 0; first < count; first += 32) {
      const numbers = Array.from({ length: Math.min(32, count - first) }, (_, i) => first + i);
      const read = await Promise.all(numbers.map((block) => source.records(block)));
      for (const records of read)
        blocks.push(
          Object.entries(records)
            .map(([index, record]) => `${index}=${record}`)
            .join('\n'),
        );
    }
    return new RecordSnapshot(blocks);
  }

  /** Records of the orders of one plan block, by index. */
  ofPlanBlock(block: number): Map<number, OrderRecord> {
    const found = new Map<number, OrderRecord>();
    const perPlanBlock = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
    for (let i = 0; i < perPlanBlock; i++) {
      const text = this.blocks[block * perPlanBlock + i] ?? '';
      if (text === '') continue;
      for (const line of text.split('\n')) {
        const cut = line.indexOf('=');
        found.set(Number(line.slice(0, cut)), decodeRecord(line.slice(cut + 1)));
      }
    }
    return found;
  }
}

export async function* snapshotRows(
  context: RowContext,
  rows: number,
  snapshot: RecordSnapshot,
): AsyncGenerator<RowView> {
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const planned = await context.plans.block(context.ref.no, block);
    const records = snapshot.ofPlanBlock(block);
    const views = await Promise.all(
      planned.map(async (row, offset) => {
        if (row === UNKNOWN_ROW) return [];
        const index = block * PLAN_BLOCK_ROWS + offset + 1;
        const record = records.get(index) ?? decodeRecord(null);
        const details = hasTrouble(record) ? await readDetails(context.ref, index) : [];
        return [rowView(context, index, row, { record, details })];
      }),
    );
    yield* views.flat();
  }
}

export function stateOf(record: OrderRecord, cancelled = false): OrderState {
  const state = STATE_CODES[record.code];
  return state === 'planned' && cancelled ? 'cancelled' : state;
}

type Trouble = { readonly code: string | null; readonly message: string };

/** Whether what the order met holds an error. Before it was sent, that is a read of its member that failed. */
export function hasTrouble(record: OrderRecord): boolean {
  return (
    record.code === 'R' ||
    record.code === 'X' ||
    record.code === 'D' ||
    record.code === 'u' ||
    (record.code === 'w' && record.attempts + record.tries > 0)
  );
}

/** What last went wrong, from the newest entry that says so. */
function lastTrouble(details: readonly OrderEvent[]): Trouble | null {
  for (const detail of [...details].reverse())
    if (detail.event === 'attempt' || detail.event === 'orphaned' || detail.event === 'concluded')
      return { code: detail.code, message: detail.message };
  return null;
}

export function rowView(
  context: RowContext,
  index: number,
  row: PlanRow,
  { record, details }: { readonly record: OrderRecord; readonly details: readonly OrderEvent[] },
): RowView {
  const state = stateOf(record, context.cancelled);
  const error = troubleOf(row, state, lastTrouble(details));
  const { op, member, recipient, tokens } = row.order ?? NO_ORDER;
  return {
    index,
    line: row.line,
    order: orderId(context.ref.id, index),
    op,
    member,
    recipient,
    tokens,
    reference: row.reference,
    reason: row.reason,
    state,
    doubt: record.doubt,
    marks: record.marks,
    attempts: record.attempts,
    httpStatus: record.status,
    balanceAfter: record.balance,
    errorCode: error?.code != null && isErrorCode(error.code) ? error.code : null,
    error: error?.message ?? null,
    evidence: record.evidence,
    sentAt: record.sentAt,
    settledAt: record.sentAt === null || record.tookMs === null ? null : record.sentAt + record.tookMs,
    cells: row.cells,
    traces: state === 'doubt' || state === 'unknown' ? tracesOf(details, namedBy(record)) : null,
  };
}

/** A record keeps the number of its last doubt after that has ended. */
export function namedBy({ code, nonce, doubt }: OrderRecord): Named {
  return { attempt: nonce, doubt: code === 'D' ? doubt : null };
}

const NO_ORDER = { op: null, member: null, recipient: null, tokens: null };

function troubleOf(row: PlanRow, state: OrderState, trouble: Trouble | null): Trouble | null {
  if (state === 'invalid') return row.fault;
  if (state === 'duplicate')
    return {
      code: 'ALM_ROW_DUPLICATE',
      message:
        row.reference === null
          ? `the same row is order ${row.duplicateOf}, and only new rows were to be paid`
          : `its reference is already spent by order ${row.duplicateOf ?? 'of an earlier batch'}`,
    };
  return state === 'paid' ? null : trouble;
}
