import type { Column } from '../../core/columns.js';
import { currencyName } from '../../core/currencies.js';
import type { ErrorCode } from '../../core/errors/catalogue.js';
import { type BatchId, type OrderId, orderId, parseOrderId, UNDO } from '../../core/ids.js';
import { inverseOf, type Order } from '../../core/order.js';
import type { PaidBefore } from '../../core/paid-before.js';
import { tokens } from '../../core/points.js';
import { parseAward } from '../../core/reference.js';
import { show } from '../../core/visible.js';
import type { Finding, OrderRow } from '../../csv/row.js';
import { type PlanRow, planning, type RealmLedger, reading, steering } from '../../ledger/index.js';
import { orderWords } from '../../words/amounts.js';
import { isoTime } from '../../words/spelling.js';

/** What the rows of a file are judged by. */
export type Judging = {
  readonly ledger: RealmLedger;
  readonly plans: reading.PlanReader;
  /** The rows are the awards of a rule's run. */
  readonly isRun: boolean;
  readonly batches: EarlierBatches;
  readonly currency: string | null;
  /** How the file spells a column; undefined where it has none. */
  readonly nameOf: (column: Column) => string | undefined;
};

/** The row takes back a part of an order, which so many tokens are left of. It frees no reference. */
type UndoPart = { readonly part: OrderId; readonly left: number };

/**
 * An undo row takes back what one paid order did, and nothing else: paid in whole, it frees that order's reference. A
 * smaller amount takes back a part; the rest stands under `undo:` and that part. An undo is not undone itself, because
 * the reference would stay free while its member has the points again.
 */
export async function judgeUndo(
  row: OrderRow,
  judging: Judging,
): Promise<NonNullable<PlanRow['undoes']> | UndoPart | Denial> {
  const { ledger, currency, nameOf } = judging;
  const reference = nameOf('reference') ?? 'reference';
  const named = await undoneRow(row.reference, judging);
  if ('code' in named) return { ...named, column: reference };
  const { order: undone, batch } = named;
  const state = reading.orders.stateOf(await reading.orders.record({ ledger, no: batch.no }, named.index));
  if (state !== 'paid') return { ...(await denial(ledger, 'undoes', undone, { state })), column: reference };
  let [root, taken] = [named, 0];
  while (root.row.reference?.startsWith(UNDO) === true) {
    taken += root.row.order.tokens;
    const before = await undoneRow(root.row.reference, judging);
    if ('code' in before) return { ...before, column: reference };
    root = before;
  }
  const wanted = inverseOf(root.row.order);
  const left = wanted.tokens - taken;
  const other = firstDifference(row.order, wanted) ?? (row.order.tokens > left ? 'tokens' : undefined);
  if (root !== named && (left <= 0 || (other !== undefined && other !== 'tokens')))
    return {
      order: undone,
      column: reference,
      code: 'ALM_ROW_UNDO_OF_UNDO',
      message: `Order ${undone} is itself an undo, of order ${root.order}${left <= 0 ? ', whose reference it has freed' : ''}. To give the points again, make a new order with a reference of its own.`,
    };
  if (batch.currency !== currency)
    return {
      order: undone,
      column: nameOf('currency') ?? reference,
      code: 'ALM_ROW_CURRENCY_OTHER',
      message: `Order ${undone} was paid in ${currencyName(batch.currency)}; this run is in ${currencyName(currency)}.`,
    };
  if (other !== undefined)
    return {
      order: root.order,
      // Without the column, the sign says which op it is.
      column: nameOf(other) ?? nameOf('tokens') ?? other,
      code: 'ALM_ROW_UNDO_OTHER',
      message: `The row: ${orderWords(row.order)}; the undo of order ${root.order}: ${orderWords({ ...wanted, tokens: tokens(left) })}, or less.`,
    };
  if (root !== named || row.order.tokens < left) return { part: root.order, left };
  return planning.references.undoneBy(root.row, batch.no, named.index);
}

/** The order that an undo names, with its row. */
async function undoneRow(reference: string | null, { ledger, plans, batches }: Judging) {
  const named = parseOrderId(reference?.slice(UNDO.length) ?? '');
  if (named === undefined) throw new Error(`${reference} names no order`);
  const order = orderId(named.batch, named.index);
  const batch = await batches.find(named.batch);
  if (batch === null || named.index > batch.rows) return denial(ledger, 'undoes', order, 'gone');
  const row = await plans.row(batch.no, named.index);
  if (row.order === null) return denial(ledger, 'undoes', order, { state: 'invalid' });
  return { order, batch, index: named.index, row: { ...row, order: row.order } };
}

function firstDifference(order: Order, wanted: Order): 'op' | 'member' | 'recipient' | 'tokens' | undefined {
  return (['op', 'member', 'recipient'] as const).find((field) => order[field] !== wanted[field]);
}

/**
 * What stands in for an order is the same payment: in its currency and under its reference, so that neither that
 * reference nor the account of its rule is passed by. Only a run of a rule makes awards that take points; their stand-ins
 * take points too, and no others do.
 */
export function judgeStandIn(
  row: OrderRow,
  old: { readonly batch: EarlierBatch; readonly row: PlanRow },
  { currency, nameOf }: Judging,
): Denial | null {
  const referenceColumn = nameOf('reference') ?? 'reference';
  const order = row.replaces;
  if (old.batch.currency !== currency)
    return {
      order,
      column: 'almoner_order',
      code: 'ALM_ROW_CURRENCY_OTHER',
      message: `Order ${row.replaces} is in ${currencyName(old.batch.currency)}; this run is in ${currencyName(currency)}.`,
    };
  const { reference } = old.row;
  const took = old.row.order?.op === 'debit' && reference === row.reference;
  if (
    row.reference !== null &&
    parseAward(row.reference) !== undefined &&
    took !== (row.order.op === 'debit')
  )
    return {
      order,
      column: referenceColumn,
      code: 'ALM_ROW_REFERENCE_INVALID',
      message: `The row is a ${row.order.op} under ${show(row.reference)}; order ${row.replaces}, for which it stands in, is ${took ? 'a debit under it' : 'no debit under it'}.`,
    };
  if (reference === null || reference === row.reference) return null;
  return {
    order,
    column: referenceColumn,
    code: 'ALM_ROW_REFERENCE_OTHER',
    message: `The row stands in for order ${row.replaces}, whose reference is ${show(reference)}; ${row.reference === null ? 'it has none' : `it has ${show(row.reference)}`}.`,
  };
}

export type EarlierBatch = { readonly no: string; readonly rows: number; readonly currency: string | null };

/** The batches of whose orders a file speaks, each asked for once. */
export class EarlierBatches {
  /** The numbers of those that were found. */
  readonly numbers = new Map<BatchId, string>();
  private readonly batches = new Map<BatchId, Promise<EarlierBatch | null>>();

  constructor(private readonly ledger: RealmLedger) {}

  /** Null where the books have none, or only an import that has not finished. */
  find(id: BatchId): Promise<EarlierBatch | null> {
    const known = this.batches.get(id) ?? this.read(id);
    this.batches.set(id, known);
    return known;
  }

  private async read(id: BatchId): Promise<EarlierBatch | null> {
    const batch = await planning.earlier.sealedBatch(this.ledger, id);
    if (batch !== null) this.numbers.set(id, batch.no);
    return batch;
  }
}

/** Of a row of a file, with the column that says it. */
type Denial = PaidBefore & { readonly column: string };

export function findingOf(line: number, { column, code, message }: Denial): Finding {
  return { line, column, code, message };
}

/** Why a row may not stand in for an earlier order, or undo it: the same words at the plan and at the put. */
export async function denial(
  ledger: RealmLedger,
  kind: 'replaces' | 'undoes',
  order: OrderId,
  why: planning.EarlierWhy,
): Promise<Denial> {
  const known = typeof why === 'object' && 'state' in why ? why.state : 'not in the books of this realm';
  const state = known === 'doubt' ? 'in doubt' : known;
  if (kind === 'undoes')
    return {
      order,
      column: 'reference',
      code: 'ALM_ROW_UNDO_NOT_PAID',
      message: `Order ${order} is ${state}, so there is nothing to undo.`,
    };
  const denied = (code: ErrorCode, message: string) => ({ order, column: 'almoner_order', code, message });
  if (why === 'gone') return denied('ALM_ROW_ORDER_UNKNOWN', `Order ${order} is ${state}.`);
  if (why === 'archived')
    return denied(
      'ALM_ROW_ORDER_ARCHIVED',
      `Order ${order} is archived: nothing would keep a second file from standing in for it again.`,
    );
  if ('replacedBy' in why) {
    const { batch, unfinished, cancelled } = await steering.deadLetters.standIn(ledger, why.replacedBy);
    const way = unfinished
      ? ` That import has not finished; \`almoner cancel ${batch}\` gives it up.`
      : cancelled
        ? ' That batch was cancelled; what it did not send is in unprocessed.csv of its own report.'
        : '';
    return denied(
      'ALM_ROW_ORDER_REPLACED',
      `Order ${order} was already put into another file (batch ${batch}).${way}`,
    );
  }
  if ('state' in why)
    return denied(
      'ALM_ROW_ORDER_MAY_BE_PAID',
      `Order ${order} is ${state}: it was paid or may still be paid, so this row would pay it twice.`,
    );
  return denied(
    'ALM_ROW_ORDER_MAY_BE_PAID',
    `Order ${order} was resolved as unpaid, and its request may still arrive until ${isoTime(why.arrivesUntil)}: this row would pay it twice. Run it after that.`,
  );
}
