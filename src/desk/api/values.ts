import { z } from 'zod';
import { OPS } from '../../core/order.js';
import { CERTAINTIES } from '../../core/profile.js';
import { BATCH_STATES, ORDER_STATES } from '../../core/states.js';

/** The values that requests and replies are made of. */

/** A request or a reply as a type: what the desk may answer with, and what a page reads or sends. */
export type Of<S extends z.ZodType> = Frozen<z.input<S>>;

type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;

export const time = z.iso.datetime();
/** The sum of tokens of any number of orders; a net effect may be negative. */
export const sum = z.string().regex(/^-?[0-9]+$/);
export const count = z.int().min(0);
export const orderState = z.enum(ORDER_STATES);
export const batchState = z.enum(BATCH_STATES);
export const certainty = z.enum(CERTAINTIES);
export const op = z.enum(OPS);
export const decision = z.enum(['paid', 'unpaid']);
export const byOp = <V extends z.ZodType>(value: V) =>
  z.strictObject({ credit: value, debit: value, transfer: value });

/** Why something stands still: a stable code, a sentence, and the next step. */
export const Reason = z.strictObject({ code: z.string(), message: z.string(), next: z.string() });

export const Rate = z.strictObject({ requests: z.number(), windowMs: z.number() });

/** What a page of a list that may be long ends with. */
export const next = z.string().nullable().describe('Hand it back as `cursor`; null is the end.');

/** The parts of requests, each bounded. */
export const batch = z.string().min(1).max(80);
export const order = z.string().min(3).max(100);
export const name = z.string().min(1).max(200);
export const reason = z.string().trim().min(1).max(500);
export const member = z.string().regex(/^[0-9]{1,20}$/, 'expected a member id: 1 to 20 digits');
export const cursor = z.string().min(1).max(80);
export const digits = z.string().regex(/^[0-9]{1,30}$/, 'expected a sum as digits');

export function limit(max: number) {
  return z.coerce.number().int().min(1).max(max);
}

/** What was sealed of a batch's input beside its orders, by the hashes of bytes. */
export const fileSha256 = z.string().nullable().describe('Of the bytes of the file; sealed with the batch.');
export const memberTable = z
  .strictObject({ name: z.string(), sha256: z.string() })
  .nullable()
  .describe('The table that gave the members; sealed with the batch.');

/** Cells that are mended at once. */
export const MENDED_MAX = 200;
/** A longer one is mended where it comes from. */
export const CELL_CHARACTERS_MAX = 1_000;
