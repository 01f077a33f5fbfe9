import type { OrderRow } from '../csv/row.js';
import { show } from '../csv/visible.js';
import { parseAward } from '../ledger/accounts.js';
import type { PlanRow } from '../ledger/plan-block.js';
import type { Denial } from './denial.js';
import { currencyName, type EarlierBatch } from './earlier-batches.js';

/**
 * What stands in for an order is the same payment: in its currency and under its reference, so that neither that
 * reference nor the account of its rule is passed by. Only a run of a rule makes awards that take points; their stand-ins
 * take points too, and no others do.
 */
export function judgeStandIn(
  row: OrderRow,
  old: { readonly batch: EarlierBatch; readonly row: PlanRow },
  currency: string | null,
  referenceColumn: string,
): Denial | null {
  if (old.batch.currency !== currency)
    return {
      column: 'almoner_order',
      code: 'ALM_ROW_CURRENCY_OTHER',
      message: `Order ${row.replaces} is in ${currencyName(old.batch.currency)}; this run is in ${currencyName(currency)}.`,
    };
  const { reference, order } = old.row;
  const took = order?.op === 'debit' && reference === row.reference;
  if (
    row.reference !== null &&
    parseAward(row.reference) !== undefined &&
    took !== (row.order.op === 'debit')
  )
    return {
      column: referenceColumn,
      code: 'ALM_ROW_REFERENCE_INVALID',
      message: `The row is a ${row.order.op} under ${show(row.reference)}; order ${row.replaces}, for which it stands in, is ${took ? 'a debit under it' : 'no debit under it'}.`,
    };
  if (reference === null || reference === row.reference) return null;
  return {
    column: referenceColumn,
    code: 'ALM_ROW_REFERENCE_OTHER',
    message: `The row stands in for order ${row.replaces}, whose reference is ${show(reference)}; ${row.reference === null ? 'it has none' : `it has ${show(row.reference)}`}.`,
  };
}
