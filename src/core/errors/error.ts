import { CATALOGUE, type ErrorCode, type ExitCode } from './catalogue.js';

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

/** A readable sentence from whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return error.errors.map((inner) => messageOf(inner)).join('; ');
  return error instanceof Error ? error.message : String(error);
}
