import type { Rate } from '../../core/profile.js';

/** The result of a call before it is sent. A refusal is a value like any other answer. */
export type Answer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The stable names of all refusals, as the `error` field shows them. */
export type RefusalCode =
  | 'unauthorized'
  | 'forbidden'
  | 'invalid_request'
  | 'not_found'
  | 'member_not_found'
  | 'recipient_not_found'
  | 'method_not_allowed'
  | 'idempotency_key_running'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'balance_too_small'
  | 'balance_out_of_range'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'injected_fault'
  | 'internal_error'
  | 'store_unavailable';

export function ok(body: Answer['body'], headers: Answer['headers'] = {}): Answer {
  return { status: 200, body, headers };
}

/** An answer that refuses a call. `details` helps programs, the message helps people. */
export function refuse(
  status: number,
  error: RefusalCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): Answer {
  return { status, body: { error, message, ...(details === undefined ? {} : { details }) }, headers: {} };
}

/** Refuses a request that cannot be read, and names the field. */
export function invalid(message: string, field?: string): Answer {
  return refuse(400, 'invalid_request', message, field === undefined ? undefined : { field });
}

/** A part of a request that was read, or the answer that refuses it. */
export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Answer };

export function read<T>(value: T): Read<T> {
  return { ok: true, value };
}

export function unreadable(message: string, field?: string): Read<never> {
  return { ok: false, refusal: invalid(message, field) };
}

/** The decision of the realm's sliding window about one request. */
export type Admission = { readonly admitted: boolean; readonly remaining: number; readonly resetMs: number };

/**
 * The rate headers of every answer when a limit is set. Times are whole seconds from now, rounded up, as in
 * Retry-After.
 */
export function rateHeaders(rate: Rate, admission: Admission): Record<string, string> {
  return {
    'x-ratelimit-limit': String(rate.requests),
    'x-ratelimit-remaining': String(admission.remaining),
    'x-ratelimit-reset': String(secondsUp(admission.resetMs)),
    'x-ratelimit-window': String(secondsUp(rate.windowMs)),
  };
}

/** The answer to a request over the rate, with the seconds to wait. */
export function tooManyRequests(retryAfterMs: number): Answer {
  const seconds = secondsUp(retryAfterMs);
  const refusal = refuse(
    429,
    'rate_limited',
    `Too many requests for this realm. Nothing was changed; try again in ${seconds} s.`,
    { retryAfterSeconds: seconds },
  );
  return { ...refusal, headers: { 'retry-after': String(seconds) } };
}

function secondsUp(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
