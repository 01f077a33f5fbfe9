import { z } from 'zod';
import { ERROR_CODES } from '../../core/errors/catalogue.js';
import { OPS } from '../../core/order.js';
import { CERTAINTIES } from '../../core/profile.js';
import { BATCH_STATES, ORDER_MARKS, ORDER_STATES } from '../../core/states.js';

/**
 * The values that views are made of. A view is what people and programs see of a batch, an order, a plan, a realm or a
 * rule. Each view is one schema in this folder; desk, library and command line derive theirs from it
 * (docs/decisions/0009-views-once.md).
 */

/** The type of a schema, all of it readonly. */
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
export const byOp = <V extends z.ZodType>(value: V) =>
  z.strictObject({ credit: value, debit: value, transfer: value });

export const Op = z.enum(OPS);
export const BatchState = z.enum(BATCH_STATES);
export const OrderState = z
  .enum(ORDER_STATES)
  .describe(
    '`refused` and `exhausted` are definitely not applied. `unknown` is being resolved. `doubt` waits for a person: no evidence proves whether it was applied. `duplicate`: another order holds its reference.',
  );
export const Certainty = z
  .enum(CERTAINTIES)
  .describe(
    'How an unknown outcome is resolved: `idempotent` sends the same key again, `readback` compares balances, `manual` makes every unknown a doubt.',
  );
export const ErrorCode = z.enum(ERROR_CODES).describe('Stable; docs/errors.md lists all.');
export const decision = z.enum(['paid', 'unpaid']);
export const currency = z.string().nullable().describe('The currency of the amounts; null: the realm’s own.');
export const marks = z
  .array(z.enum(ORDER_MARKS))
  .describe('What a person did about a dead letter: discarded it, or put another row in its place.');

export const Reason = z
  .strictObject({ code: ErrorCode, message: z.string(), next: z.string().describe('The next step.') })
  .describe('Why something stands still.');
export type Reason = Of<typeof Reason>;

export const Rate = z.strictObject({ requests: z.number(), windowMs: z.number() });
