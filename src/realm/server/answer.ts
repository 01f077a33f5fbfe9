import type { Redis } from 'ioredis';

/** What a call comes to before it goes on the wire. Refusals are values like any other answer. */
export type Answer = {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Stable names of everything the service refuses, as the `error` field shows them. */
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

export function refuse(
  status: number,
  error: RefusalCode,
  message: string,
  details?: Readonly<Record<string, unknown>>,
  headers: Answer['headers'] = {},
): Answer {
  return { status, body: { error, message, ...(details === undefined ? {} : { details }) }, headers };
}

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

/** Redis failed under a command. `sent`: the command may have reached it, so a change may have been made. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(sent ? 'the store failed under a command' : 'the store was not reachable', { cause });
    this.sent = sent;
  }
}

/**
 * Runs a command and names its failure. The connection has no offline queue, so a command given to it
 * while it is down was certainly never sent.
 */
export async function asking<T>(redis: Redis, command: () => Promise<T>): Promise<T> {
  const ready = redis.status === 'ready';
  try {
    return await command();
  } catch (cause) {
    throw new StoreFailure(ready, cause);
  }
}
