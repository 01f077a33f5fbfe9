import { orderId, parseOrderId, UNDO } from '../core/ids.js';
import { inverseOf, type Order } from '../core/order.js';
import type { Column } from '../csv/columns.js';
import type { OrderRow } from '../csv/row.js';
import { accountOf } from '../ledger/accounts.js';
import type { PlanRow } from '../ledger/plan-block.js';
import type { PlanReader } from '../ledger/plan-store.js';
import type { RealmLedger } from '../ledger/realm-ledger.js';
import { CODE_OF_STATE } from '../ledger/record.js';
import { referenceKey } from '../ledger/reference.js';
import { readRecord, stateOf } from '../ledger/rows.js';
import { type Denial, denial } from './denial.js';
import { currencyName, type EarlierBatches } from './earlier-batches.js';

/**
 * An undo row takes back exactly what one paid order did, and nothing else: paid, it frees that order's reference. An
 * undo is not undone itself, because the reference would stay free while its member has the points again.
 */
export class UndoJudge {
  constructor(
    private readonly ledger: RealmLedger,
    private readonly plans: PlanReader,
    private readonly batches: EarlierBatches,
    private readonly currency: string | null,
    /** How the file spells a column; undefined where it has none. */
    private readonly nameOf: (column: Column) => string | undefined,
  ) {}

  async judge(row: OrderRow): Promise<NonNullable<PlanRow['undoes']> | Denial> {
    const reference = this.nameOf('reference') ?? 'reference';
    const named = parseOrderId(row.reference?.slice(UNDO.length) ?? '');
    if (named === undefined) throw new Error(`${row.reference} names no order`);
    const undone = orderId(named.batch, named.index);
    const batch = await this.batches.find(named.batch);
    if (batch === null || named.index > batch.rows)
      return { ...(await denial(this.ledger, 'undoes', undone, 'gone')), column: reference };
    const record = await readRecord({ ledger: this.ledger, no: batch.no }, named.index);
    if (record.code !== 'P') {
      const state = CODE_OF_STATE[stateOf(record, false)];
      return { ...(await denial(this.ledger, 'undoes', undone, state)), column: reference };
    }
    const original = await this.plans.row(batch.no, named.index);
    if (original.order === null) throw new Error(`order ${undone} is paid and has no content`);
    if (original.reference?.startsWith(UNDO) === true)
      return {
        column: reference,
        code: 'ALM_ROW_UNDO_OF_UNDO',
        message: `Order ${undone} is itself an undo, of order ${original.reference.slice(UNDO.length)}, whose reference it has freed. To give the points again, make a new order with a reference of its own.`,
      };
    if (batch.currency !== this.currency)
      return {
        column: this.nameOf('currency') ?? reference,
        code: 'ALM_ROW_CURRENCY_OTHER',
        message: `Order ${undone} was paid in ${currencyName(batch.currency)}; this run is in ${currencyName(this.currency)}.`,
      };
    const wanted = inverseOf(original.order);
    const other = firstDifference(row.order, wanted);
    if (other !== undefined)
      return {
        // Without the column, the sign says which op it is.
        column: this.nameOf(other) ?? this.nameOf('tokens') ?? other,
        code: 'ALM_ROW_UNDO_OTHER',
        message: `The row is a ${spelled(row.order)}; the undo of order ${undone} is a ${spelled(wanted)}.`,
      };
    const key = original.reference === null ? null : referenceKey(original.reference);
    return {
      shard: key?.shard ?? '',
      fieldHex: key?.field.toString('hex') ?? '',
      no: batch.no,
      index: String(named.index),
      account: accountOf(original) ?? undefined,
    };
  }
}

function firstDifference(order: Order, wanted: Order) {
  return (['op', 'member', 'recipient', 'tokens'] as const).find((field) => order[field] !== wanted[field]);
}

function spelled({ op, member, recipient, tokens }: Order): string {
  return op === 'transfer'
    ? `transfer of ${tokens} from ${member} to ${recipient}`
    : `${op} of ${tokens} for ${member}`;
}
