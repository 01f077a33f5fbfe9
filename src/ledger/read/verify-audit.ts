import type { OrderState } from '../../core/states.js';
import type { BatchTotals } from './verify-totals.js';

/** What the audit of one batch gives to the sums over all batches. */
export type BatchAudit = {
  readonly no: string;
  /** The batch as it was when it was read. While it reads the same, so does the rest. */
  readonly stamp: string;
  readonly orders: number;
  readonly differences: readonly string[];
  /** Tokens that were sent and not proven unapplied, by UTC day; null where a record does not tell its day. */
  readonly days: ReadonlyMap<string, bigint> | null;
  /** What its orders say of the running totals; null where they could not be read. */
  readonly totals: BatchTotals | null;
  /** Tokens that its orders hold of the accounts of rules. */
  readonly held: ReadonlyMap<string, bigint>;
  /** The orders, as '<no>:<index>', whose references its paid undos have freed. */
  readonly undone: readonly string[];
  /** References that are not as their orders say. A paid undo in another batch may be why. */
  readonly references: readonly MisheldReference[];
  /** How many references its orders keep spent. */
  readonly spent: number;
  /** Members that its orders hold, with the order. */
  readonly holds: ReadonlyMap<string, string>;
  readonly waits: readonly { readonly order: string; readonly member: string }[];
};

export type MisheldReference = {
  readonly order: string;
  readonly state: OrderState;
  readonly mine: boolean;
  readonly holder: { readonly no: string; readonly index: number } | null;
};
