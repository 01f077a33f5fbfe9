import type { OrderRef } from '../ledger/sending.js';

/** What becomes of a delivery: over (with orders that waited for this one), or made again after a while. */
export type Delivered = { readonly next: readonly OrderRef[] } | { readonly againInMs: number };

export const OVER: Delivered = { next: [] };
