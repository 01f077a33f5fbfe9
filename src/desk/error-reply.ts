import type { ErrorCode } from '../core/errors/catalogue.js';
import { AlmonerError, isAlmonerError } from '../core/errors/error.js';
import type { ErrorReply } from './api/index.js';

const STATUS: Readonly<Partial<Record<ErrorCode, number>>> = {
  ALM_DESK_NOT_SIGNED_IN: 401,
  ALM_DESK_TOKEN_WRONG: 401,
  ALM_DESK_TOO_MANY_TRIES: 429,
  ALM_DESK_ROLE: 403,
  ALM_DESK_CSRF: 403,
  ALM_DESK_ORIGIN: 403,
  ALM_DESK_HOST: 403,
  ALM_DESK_NOT_FOUND: 404,
  ALM_DESK_UPLOAD_UNKNOWN: 404,
  ALM_DESK_TABLE_UNKNOWN: 404,
  ALM_DESK_CHANGED: 409,
  ALM_DESK_UPLOAD_TOO_LARGE: 413,
  ALM_DESK_UPLOAD_BROKEN: 408,
  ALM_DESK_BUSY: 429,
  ALM_DESK_NO_PAGES: 503,
  ALM_BATCH_NOT_FOUND: 404,
  ALM_BATCH_ORDER_NOT_FOUND: 404,
  ALM_BATCH_CANNOT: 409,
  ALM_BATCH_MAY_ARRIVE: 409,
  ALM_PLAN_CHANGED: 409,
  ALM_RULE_EDITED: 409,
  ALM_PEOPLE_NAMELESS: 403,
  ALM_PEOPLE_ROLE: 403,
  ALM_PEOPLE_SAME: 403,
  ALM_PEOPLE_CHANGED: 409,
  ALM_PEOPLE_NOT_NEEDED: 409,
  ALM_DESK_TOKEN_UNKNOWN: 404,
  ALM_DESK_TOKEN_EXISTS: 409,
  ALM_DESK_LAST_ADMIN: 409,
  ALM_STORE_UNREACHABLE: 503,
};

/** The status where no code has its own: by the exit of the command line (2 asked wrongly, 3 refused input, 5 stands still). */
const STATUS_BY_EXIT = { 1: 500, 2: 400, 3: 422, 4: 409, 5: 409, 130: 409 } as const;

/** What went wrong, as an answer: a code, a sentence and the next step; never a stack, a path or a query. */
export function errorAnswer(thrown: unknown) {
  const known = isAlmonerError(thrown) ? thrown : fromFramework(thrown);
  const error = known ?? new AlmonerError('ALM_DESK_INTERNAL', 'Something failed that should not have.');
  const headers = thrown instanceof TooManyTries ? { 'retry-after': String(thrown.seconds) } : {};
  const { code, message, next, details } = error;
  const body: ErrorReply = {
    error: { code, message: withoutPaths(message), next, details: details.map(withoutPaths) },
  };
  const status = frameworkStatus(thrown) ?? STATUS[code] ?? STATUS_BY_EXIT[error.exit];
  // A bug is no expected failure and belongs into the log.
  return { status, headers, body, bug: known === null };
}

/** Fastify's own refusals: a body that is no JSON, too large, or of a type that nobody reads. */
function fromFramework(thrown: unknown): AlmonerError | null {
  const status = frameworkStatus(thrown);
  if (status === null) return null;
  if (status === 413)
    return new AlmonerError('ALM_DESK_UPLOAD_TOO_LARGE', 'The request is too large. Nothing was done.', {
      next: 'Send less at once.',
    });
  return new AlmonerError('ALM_DESK_BAD_REQUEST', `The ${notUnderstood(thrown, status)}. Nothing was done.`);
}

function notUnderstood(thrown: unknown, status: number): string {
  if (status === 415) return 'body of the request is of a type that the desk does not read';
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  const part = /BAD_URL|MAX_PARAM_LENGTH/.test(code) ? 'address' : 'body';
  return `${part} of the request was not understood`;
}

function frameworkStatus(thrown: unknown): number | null {
  if (isAlmonerError(thrown) || !(thrown instanceof Error) || !('statusCode' in thrown)) return null;
  const { statusCode } = thrown;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 ? statusCode : null;
}

/** Messages are written for the machine's own operator; over the network its folders are nobody's business. */
export function withoutPaths(text: string): string {
  return text.replaceAll(
    /(?<![\w:/])(?:\/[\w.@+-]+){2,}\/?/g,
    (path) => `…/${path.split('/').filter(Boolean).at(-1)}`,
  );
}

export class TooManyTries extends AlmonerError {
  constructor(readonly seconds: number) {
    super(
      'ALM_DESK_TOO_MANY_TRIES',
      `This is not a desk token known here, and too many such came from this address. Nobody was signed in; try again in ${seconds} s.`,
    );
  }
}
