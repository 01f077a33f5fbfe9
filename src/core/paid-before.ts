import type { ErrorCode } from './errors/catalogue.js';
import { AlmonerError } from './errors/error.js';
import type { OrderId } from './ids.js';

/**
 * The answer to "was it paid before?" where a row or an order may not be paid (docs/paid-before.md). A plan makes a finding of
 * it, the seal an error, a retry a refusal; begin ends the order with it.
 */
export type PaidBefore = {
  /** The order that stands against it; null where it has no id of its own: an undo, another file, another address. */
  readonly order: OrderId | null;
  readonly code: ErrorCode;
  readonly message: string;
};

/** Stops an import or a retry before anything was written. */
export function stoppedBy(
  { code, message }: Pick<PaidBefore, 'code' | 'message'>,
  outcome = 'Nothing was enqueued and nothing was sent.',
): AlmonerError {
  return new AlmonerError(code, `${message} ${outcome}`);
}
