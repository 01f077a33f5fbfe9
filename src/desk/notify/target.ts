import type { NoticeEvent } from '../../core/notice-events.js';
import type { BatchSummary, Matter } from '../api/index.js';

/** An alert with the present state of its batch. */
export type Notice = {
  readonly at: string;
  readonly matter: Matter;
  readonly summary: BatchSummary | null;
  /** The page to open, where the desk has a public address. */
  readonly link: string | null;
};

/** A destination of notices. */
export type Target = {
  /** Realm and kind in words. The log shows this name, and stored messages find their target by it. */
  readonly name: string;
  /** The target's server. Its path may be secret. */
  readonly place: () => string;
  readonly wants: readonly NoticeEvent[];
  /** The body to send, as the outbox keeps it. */
  body(notice: Notice): string;
  /** Makes one try. It never throws. */
  send(message: Outgoing, stop: AbortSignal): Promise<Sent>;
  /** Shows progress, for targets that can. It is not stored, because the next one follows soon. */
  progress?(notice: Notice, stop: AbortSignal): Promise<void>;
};

export type Outgoing = {
  readonly id: string;
  readonly body: string;
  /** When the message was written. */
  readonly at: number;
  /** The subject with a single message that is edited: a batch. Null for all others. */
  readonly thread: string | null;
};

/** The result of one try. */
export type Sent = {
  readonly ok: boolean;
  readonly status: number | null;
  /** The reason in words, without the address, which may be a secret. */
  readonly why: string | null;
  readonly retryAfterMs: number;
  readonly body: string;
};

const ANSWER_MS = 10_000;
const BODY_BYTES_MAX = 64 * 1024;
const RETRY_AFTER_MAX_MS = 3_600_000;

/** Makes one HTTP request. It follows no redirects, because the address is a secret. */
export async function post(
  request: {
    readonly method: 'POST' | 'PATCH';
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: string;
  },
  stop: AbortSignal,
): Promise<Sent> {
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: { 'content-type': 'application/json', 'user-agent': 'almoner', ...request.headers },
      body: request.body,
      redirect: 'manual',
      signal: AbortSignal.any([stop, AbortSignal.timeout(ANSWER_MS)]),
    });
    const body = await beginningOf(response);
    const { ok, status } = response;
    const asked = Number(response.headers.get('retry-after') ?? Number.NaN);
    const retryAfterMs = Number.isFinite(asked) ? Math.min(Math.max(0, asked * 1000), RETRY_AFTER_MAX_MS) : 0;
    return { ok, status, body, retryAfterMs, why: ok ? null : `it answered with status ${status}` };
  } catch (error) {
    return { ok: false, status: null, body: '', retryAfterMs: 0, why: whyNot(error) };
  }
}

/**
 * Reads the beginning of a reply. The status has told already whether the target accepted it. The rest is dropped
 * with the connection, so that an endless reply costs neither memory nor a second delivery.
 */
async function beginningOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes < BODY_BYTES_MAX) {
      const read = await reader?.read();
      if (read?.value === undefined) break;
      chunks.push(read.value.subarray(0, BODY_BYTES_MAX - bytes));
      bytes += read.value.length;
    }
  } catch {
    // The reply was cut off or too slow.
  }
  void reader?.cancel().catch(() => {});
  return Buffer.concat(chunks).toString('utf8');
}

/** The code of a failed connection. Its message would quote the address. */
function whyNot(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `it did not answer within ${ANSWER_MS / 1000} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : null;
  return code === null ? 'it could not be reached' : `it could not be reached (${code})`;
}
