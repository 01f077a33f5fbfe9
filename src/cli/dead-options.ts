import { type ErrorCode, isErrorCode } from '../core/errors/catalogue.js';
import type { DeadSelection } from '../operations/dead/dead-letters.js';
import { argumentList, text, usage } from './frame/options.js';

/** How `dead retry` and `dead discard` are told which orders they are about. */
export const ORDERS = { ORDER: argumentList('order ids, as `almoner dead list` prints them') } as const;

export const DEAD_OPTIONS = {
  batch: text('BATCH', 'all dead letters of this batch, doubts left alone'),
  class: text('CLASS', 'with --batch: only those of this error code'),
} as const;

export function readClass(given: string | undefined): ErrorCode | undefined {
  if (given === undefined) return undefined;
  const code = given.toUpperCase();
  if (isErrorCode(code)) return code;
  throw usage(
    `--class: ${JSON.stringify(given)} is no error code. Nothing was done.`,
    'See the classes with `almoner dead list`.',
  );
}

export function readSelection(
  orders: readonly string[],
  options: { readonly batch: string | undefined; readonly class: string | undefined },
): DeadSelection {
  const { batch } = options;
  if (batch !== undefined && orders.length > 0)
    throw usage('Give order ids or --batch, not both. Nothing was done.');
  if (batch !== undefined) return { batch, class: readClass(options.class) };
  if (options.class !== undefined) throw usage('--class needs --batch. Nothing was done.');
  if (orders.length === 0) throw usage('Name the orders, or a batch with --batch. Nothing was done.');
  return { orders };
}
