import type { NoticeEvent } from '../../core/notice-events.js';
import type { BatchSummary, Matter } from '../api/index.js';

/** Something to tell, with the batch it is about as it stands now. */
export type Notice = {
  readonly at: string;
  readonly matter: Matter;
  readonly summary: BatchSummary | null;
  /** The page to look at, where the desk has an address that people can reach. */
  readonly link: string | null;
};

/** Somewhere notices go. */
export type Target = {
  /** Of whose realm and which kind, in words: it stands in the log, and letters find their way by it. */
  readonly name: string;
  /** The server that it is at; paths may be secret. */
  readonly place: () => string;
  readonly wants: readonly NoticeEvent[];
  /** What is sent, as it is kept until it has left. */
  body(notice: Notice): string;
  /** One try. It never throws. */
  send(letter: Outgoing, stop: AbortSignal): Promise<Sent>;
  /** Where progress is shown as well: it is not kept, the next is never far. */
  progress?(notice: Notice, stop: AbortSignal): Promise<void>;
};

export type Outgoing = {
  readonly id: string;
  readonly body: string;
  /** When it was written. */
  readonly at: number;
  /** What has one message that is kept true, where there is such a thing: a batch. */
  readonly thread: string | null;
};

export type Sent = {
  readonly ok: boolean;
  readonly status: number | null;
  /** In words without the address, which may be a secret. */
  readonly why: string | null;
  readonly retryAfterMs: number;
  readonly body: string;
};

const ANSWER_MS = 10_000;
const BODY_BYTES_MAX = 64 * 1024;
const RETRY_AFTER_MAX_MS = 3_600_000;

/** One HTTP request. Redirects are not followed, because the address is a secret. */
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
 * What is read of an answer: the status has said already whether it was taken. The rest is not waited for, and the
 * connection is closed, so that a receiver that never ends costs neither memory nor a second delivery.
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
    // Broken off or too slow.
  }
  void reader?.cancel().catch(() => {});
  return Buffer.concat(chunks).toString('utf8');
}

/** The code of a failed connection; a message would quote the address. */
function whyNot(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError')
    return `it did not answer within ${ANSWER_MS / 1000} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : null;
  return code === null ? 'it could not be reached' : `it could not be reached (${code})`;
}
