import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { type Got, RequestError, TimeoutError } from 'got';
import type { Phase } from '../../core/classify.js';
import { ANSWER_BYTES_MAX } from './http.js';

/** One request and everything that was seen of it. It never rejects: how it ended is the value. */
export type Exchange = {
  readonly status: number | null;
  readonly headers: IncomingHttpHeaders;
  /** What arrived of the body, still encoded as sent. */
  readonly body: Buffer;
  readonly latencyMs: number;
} & (AnswerEnd | FailureEnd);

type AnswerEnd = { readonly ended: 'answer'; readonly status: number; readonly oversize: boolean };
type FailureEnd = {
  readonly ended: 'failure';
  readonly phase: Exclude<Phase, 'done'>;
  readonly freshSocket: boolean;
  /** `held-back`: `mayLeave` said no, so that nothing of the request was handed to the socket. */
  readonly cause: 'time-out' | 'reset' | 'garbled' | 'bad-certificate' | 'held-back';
  /** Node's error code. A hint for people; the message of the error itself may hold the request. */
  readonly hint: string;
};

type ExchangeRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Asked once the connection (for https the TLS handshake) is complete, right before the first byte is written; false
   * ends the request unsent. Connecting may take long, and so may a process that is frozen meanwhile.
   */
  readonly mayLeave?: () => boolean;
};

/** Beyond got's own total time-out; see `watchdog` below. */
const WATCHDOG_GRACE_MS = 2_000;

export function exchange(instance: Got, request: ExchangeRequest, totalMs: number): Promise<Exchange> {
  const { url, mayLeave } = request;
  const startedAt = performance.now();
  const secure = url.startsWith('https:');
  return new Promise((resolve) => {
    const stream = instance.stream(url, mayLeave === undefined ? withBody(request) : withoutBody(request));
    const seen: Seen = { status: null, headers: {}, chunks: [] };
    const settle = (end: AnswerEnd | FailureEnd) => {
      clearTimeout(watchdog);
      const latencyMs = Math.round(performance.now() - startedAt);
      const { status, headers, chunks } = seen;
      resolve({ status, headers, body: Buffer.concat(chunks), latencyMs, ...end });
    };
    const fail = (late: boolean, hint: string) => {
      const phase = phaseOf(stream, secure, seen.status !== null);
      const cause = late ? 'time-out' : causeOf(hint, phase);
      settle({ ended: 'failure', phase, freshSocket: stream.reusedSocket !== true, cause, hint });
    };

    // Node writes the head of a request with the first part of its body: without the body nothing leaves.
    if (mayLeave !== undefined)
      stream.once('request', (native: ClientRequest) =>
        onceConnected(native, secure, () => {
          if (mayLeave()) stream.end(request.body);
          else {
            settle(heldBack(native));
            stream.destroy();
          }
        }),
      );

    // Some answers leave got waiting for ever: after `101 Switching Protocols` neither its events nor its
    // time-outs fire. An order must not hang in `sending` for that.
    const watchdog = setTimeout(() => {
      fail(true, 'ETIMEDOUT');
      stream.socket?.destroy();
      stream.destroy();
    }, totalMs + WATCHDOG_GRACE_MS);
    listen(stream, seen, { settle, fail });
  });
}

/** What has arrived of the answer so far. */
type Seen = { status: number | null; headers: IncomingHttpHeaders; readonly chunks: Buffer[] };

type Ends = {
  readonly settle: (end: AnswerEnd | FailureEnd) => void;
  readonly fail: (late: boolean, hint: string) => void;
};

function listen(stream: ReturnType<Got['stream']>, seen: Seen, { settle, fail }: Ends): void {
  let bytes = 0;
  stream.once('response', (response: { statusCode: number; headers: IncomingHttpHeaders }) => {
    seen.status = response.statusCode;
    seen.headers = response.headers;
  });
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    seen.chunks.push(chunk);
    if (bytes <= ANSWER_BYTES_MAX || seen.status === null) return;
    // The status is known and the rest of the body is of no use; the socket is not either.
    stream.destroy();
    settle({ ended: 'answer', status: seen.status, oversize: true });
  });
  stream.once('end', () => {
    if (seen.status === null) fail(false, UNEXPECTED);
    else settle({ ended: 'answer', status: seen.status, oversize: false });
  });
  // Not once: got may emit a second error for the same request, and an unheard one ends the process.
  stream.on('error', (error: unknown) =>
    fail(error instanceof TimeoutError, error instanceof RequestError ? error.code : UNEXPECTED),
  );
}

function heldBack(native: ClientRequest): FailureEnd {
  const freshSocket = native.reusedSocket !== true;
  return { ended: 'failure', phase: 'connect', freshSocket, cause: 'held-back', hint: 'HELD_BACK' };
}

const UNEXPECTED = 'ERR_UNEXPECTED';

function withBody({ headers, body }: ExchangeRequest) {
  return body === undefined ? { headers } : { headers, body };
}

function withoutBody({ headers, body = '' }: ExchangeRequest) {
  return { headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } };
}

function onceConnected(request: ClientRequest, secure: boolean, go: () => void): void {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) go();
    else socket.once(secure ? 'secureConnect' : 'connect', go);
  });
}

/**
 * How far the request got. `timings.connect` and `secureConnect` are set by the socket's own events, so
 * that their absence on a fresh socket proves that nothing was written to it. (`timings.upload` is not
 * used: it is set when the request was handed to the socket, connected or not.)
 */
function phaseOf(
  stream: ReturnType<Got['stream']>,
  secure: boolean,
  gotHeaders: boolean,
): Exclude<Phase, 'done'> {
  if (gotHeaders) return 'body';
  const timings = stream.timings;
  // No timings: got failed before it made a request at all.
  if (timings?.connect === undefined) return 'connect';
  if (secure && timings.secureConnect === undefined) return 'tls';
  const partial = !secure && stream.reusedSocket !== true && (stream.socket?.bytesRead ?? 0) > 0;
  return partial ? 'headers' : 'sent';
}

const CERTIFICATE = /CERT|ALTNAME|HOSTNAME_MISMATCH|ISSUER|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|CRL/;

/** A name for people and codes; whether the request was sent is decided by the phase alone. */
function causeOf(hint: string, phase: Phase): 'reset' | 'garbled' | 'bad-certificate' {
  if (phase === 'tls' && CERTIFICATE.test(hint)) return 'bad-certificate';
  return hint.startsWith('HPE_') ? 'garbled' : 'reset';
}

/** What went wrong on the wire, as the beginning of a sentence. The hint is for people only. */
export function failureSentence({ phase, cause, hint, freshSocket }: FailureEnd): string {
  const late = cause === 'time-out';
  if (cause === 'held-back') return 'The connection to the realm was made too late';
  switch (phase) {
    case 'connect':
      return late ? 'No connection to the realm was made within the time-out' : connectSentence(hint);
    case 'tls':
      if (cause === 'bad-certificate') return `The realm's TLS certificate was not accepted (${hint})`;
      return late
        ? 'The TLS handshake did not finish within the time-out'
        : `The TLS handshake failed (${hint})`;
    case 'sent':
      if (late) return 'The request was sent and no answer came within the time-out';
      if (cause === 'garbled') return `The answer is not HTTP (${hint})`;
      return freshSocket
        ? `The connection broke before the answer (${hint})`
        : `A kept connection broke before the answer (${hint})`;
    case 'headers':
      if (late) return 'The answer had begun and was not finished within the time-out';
      return cause === 'garbled'
        ? `The answer is not HTTP (${hint})`
        : `The answer was cut in its head (${hint})`;
    case 'body':
      return late ? 'The body of the answer did not end within the time-out' : `The answer was cut (${hint})`;
  }
}

function connectSentence(hint: string): string {
  switch (hint) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
      return `The realm's host name could not be found (${hint})`;
    case 'ECONNREFUSED':
      return 'The connection to the realm was refused (ECONNREFUSED)';
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `The network does not reach the realm (${hint})`;
    default:
      return `No connection to the realm could be made (${hint})`;
  }
}
