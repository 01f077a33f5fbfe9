import type { BatchRef } from '../ledger/index.js';

/** Who did it, and why: what every change writes into an audit. */
export type By = { readonly who: string; readonly why: string | null };

/** An order's place in the ledger. */
export type OrderPlace = { readonly ref: BatchRef; readonly index: number };
