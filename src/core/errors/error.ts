import { CATALOGUE, type ErrorCode } from './catalogue.js';
import type { ExitCode } from './entry.js';

/**
 * A failure that a user can meet. The code is stable; the message says what happened and what was and was
 * not done; `next` says what to do. Anything thrown that is not an AlmonerError is a bug and exits with 1.
 */
export class AlmonerError extends Error {
  override readonly name = 'AlmonerError';
  readonly code: ErrorCode;
  readonly next: string;
  readonly exit: ExitCode;
  /** Several faults found at once, each a sentence of its own. */
  readonly details: readonly string[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { next?: string; cause?: unknown; details?: readonly string[] } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.next = options.next ?? CATALOGUE[code].next;
    this.exit = CATALOGUE[code].exit;
    this.details = options.details ?? [];
  }
}

export function isAlmonerError(error: unknown, code?: ErrorCode): error is AlmonerError {
  return error instanceof AlmonerError && (code === undefined || error.code === code);
}

/** Whatever was thrown, a user meets a code, a sentence and a next step; a bug also says that it is one. */
export function explained(thrown: unknown, bug: ErrorCode = 'ALM_CLI_INTERNAL'): AlmonerError {
  if (thrown instanceof AlmonerError) return thrown;
  const message = `Something failed that should not have: ${messageOf(thrown)}`;
  return new AlmonerError(bug, message, { cause: thrown });
}

/** Whether it is an error of the system with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

/** A readable sentence from whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((inner) => messageOf(inner)).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** What became of work in another thread: between threads an error loses its class, and with it what it says. */
export type Carried<T> =
  | { readonly value: T }
  | { readonly refusal: Pick<AlmonerError, 'code' | 'message' | 'next' | 'details'> }
  | { readonly bug: string };

export async function carry<T>(work: () => T | Promise<T>): Promise<Carried<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof AlmonerError))
      return { bug: (error instanceof Error && error.stack) || messageOf(error) };
    const { code, message, next, details } = error;
    return { refusal: { code, message, next, details } };
  }
}

/** The value, or the error thrown again on this side. */
export function arrived<T>(carried: Carried<T>): T {
  if ('value' in carried) return carried.value;
  if ('bug' in carried) throw new Error(carried.bug);
  const { code, message, next, details } = carried.refusal;
  throw new AlmonerError(code, message, { next, details });
}
