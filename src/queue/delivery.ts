import type { Order } from '../core/order.js';
import type { PlanRow } from '../ledger/plan-block.js';
import type { OrderRef } from '../ledger/sending.js';

/** What becomes of a delivery: over (with orders that waited for this one), or made again after a while. */
export type Delivered = { readonly next: readonly OrderRef[] } | { readonly againInMs: number };

export const OVER: Delivered = { next: [] };

export type PlannedOrder = PlanRow & { readonly order: Order };

export function isPlannedOrder(row: PlanRow): row is PlannedOrder {
  return row.order !== null && row.duplicateOf === null;
}
