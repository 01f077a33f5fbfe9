import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  type Got,
  got,
  type HandlerFunction,
  type Options,
  RequestError,
  type RequestFunction,
  TimeoutError,
} from 'got';
import type { Phase } from '../../core/classify.js';
import type { RealmProfile } from '../../core/profile.js';

/** One request and all that was observed of it. An exchange never rejects; the failure is part of the value. */
export type Exchange = {
  readonly status: number | null;
  readonly headers: IncomingHttpHeaders;
  /** The bytes of the body that arrived, still compressed if the server compressed them. */
  readonly body: Buffer;
  readonly latencyMs: number;
} & (AnswerEnd | FailureEnd);

type AnswerEnd = { readonly ended: 'answer'; readonly status: number; readonly oversize: boolean };
type FailureEnd = {
  readonly ended: 'failure';
  readonly phase: Exclude<Phase, 'done'>;
  readonly freshSocket: boolean;
  /** `held-back`: `mayLeave` returned false, so no byte of the request was written to the socket. */
  readonly cause: 'time-out' | 'reset' | 'garbled' | 'bad-certificate' | 'held-back';
  /** Node's error code, as a hint for people. The error's message is not used, because it may contain the request. */
  readonly hint: string;
};

/** One HTTP request. */
type ExchangeRequest = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Called when the connection (for https the TLS handshake) is complete, right before the first byte is written.
   * False ends the request unsent. It protects against sending late: connecting may take long, or the process may be
   * frozen meanwhile.
   */
  readonly mayLeave?: () => boolean;
};

/** How long the watchdog below waits after got's own total time-out. */
const WATCHDOG_GRACE_MS = 2_000;

/** Sends one request and observes how it ends. It resolves exactly once and never rejects. */
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

    // Node writes the head of a request together with the first part of its body. As long as the body is withheld, no
    // byte leaves.
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

    // After some answers got waits forever: after `101 Switching Protocols` neither its events nor its time-outs
    // fire. Without the watchdog the order would hang in `sending`.
    const watchdog = setTimeout(() => {
      fail(true, 'ETIMEDOUT');
      stream.socket?.destroy();
      stream.destroy();
    }, totalMs + WATCHDOG_GRACE_MS);
    listen(stream, seen, { settle, fail });
  });
}

/** The part of the answer that has arrived so far. */
type Seen = { status: number | null; headers: IncomingHttpHeaders; readonly chunks: Buffer[] };

type Ends = {
  readonly settle: (end: AnswerEnd | FailureEnd) => void;
  readonly fail: (late: boolean, hint: string) => void;
};

/** Collects status and body, and reports how the request ends. */
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
    // The status is known, and a larger body is useless. The socket cannot be reused with unread data, so close it.
    stream.destroy();
    settle({ ended: 'answer', status: seen.status, oversize: true });
  });
  stream.once('end', () => {
    if (seen.status === null) fail(false, UNEXPECTED);
    else settle({ ended: 'answer', status: seen.status, oversize: false });
  });
  // `on`, not `once`: got may emit a second error for the same request, and an unhandled error event ends the
  // process.
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

/** Calls `go` when the connection is ready for the first byte. A reused socket is ready immediately. */
function onceConnected(request: ClientRequest, secure: boolean, go: () => void): void {
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) go();
    else socket.once(secure ? 'secureConnect' : 'connect', go);
  });
}

/**
 * How far the request got. The socket's own events set `timings.connect` and `secureConnect`. If one is missing on a
 * fresh socket, no byte of the request was written. `timings.upload` proves nothing: got sets it when it hands the
 * request to the socket, connected or not.
 */
function phaseOf(
  stream: ReturnType<Got['stream']>,
  secure: boolean,
  gotHeaders: boolean,
): Exclude<Phase, 'done'> {
  if (gotHeaders) return 'body';
  const timings = stream.timings;
  // Without timings, got failed before it made a request.
  if (timings?.connect === undefined) return 'connect';
  if (secure && timings.secureConnect === undefined) return 'tls';
  const partial = !secure && stream.reusedSocket !== true && (stream.socket?.bytesRead ?? 0) > 0;
  return partial ? 'headers' : 'sent';
}

const CERTIFICATE = /CERT|ALTNAME|HOSTNAME_MISMATCH|ISSUER|LEAF_SIGNATURE|INVALID_CA|INVALID_PURPOSE|CRL/;

/** Names the cause for messages and error codes. Only the phase decides whether the request was sent. */
function causeOf(hint: string, phase: Phase): 'reset' | 'garbled' | 'bad-certificate' {
  if (phase === 'tls' && CERTIFICATE.test(hint)) return 'bad-certificate';
  return hint.startsWith('HPE_') ? 'garbled' : 'reset';
}

/** Describes the failure as the beginning of a sentence. The hint is for people only. */
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

/**
 * Sockets are reused, but one that was idle for longer is closed. Servers close idle sockets after a few seconds; a
 * request sent at that moment is reset and its outcome is unknown. Node's options cannot express this:
 * `keepAliveMsecs` is the TCP probe, and `timeout` also applies to sockets in use.
 */
export const SOCKET_IDLE_MAX_MS = 800;
/** Scanning all idle sockets before every request costs more than it saves. */
const LOOK_EVERY_MS = 50;

/** The connection pools of one client. */
export type Agents = {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** Call it before each request. The idle timer fires late if the process was blocked or frozen. */
  dropStale(): void;
  close(): void;
};

/** Creates the connection pools for http and https. */
export function createAgents(ca: string | undefined): Agents {
  const parkedAt = new WeakMap<Duplex, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  // Last in, first out: few sockets stay busy, and the others become idle and close.
  const usual = { keepAlive: true, scheduling: 'lifo' } as const;
  const http = new HttpAgent(usual);
  const https = new HttpsAgent({ ...usual, ...(ca === undefined ? {} : { ca }) });

  // Node destroys a socket whose time-out fires only while the socket is in the free list.
  for (const agent of [http, https]) {
    const keepSocketAlive = agent.keepSocketAlive.bind(agent);
    const reuseSocket = agent.reuseSocket.bind(agent);
    agent.keepSocketAlive = (socket) => {
      // Node returns whether the socket may be kept, although its type declaration says void.
      const kept: unknown = keepSocketAlive(socket);
      if (kept === false) return false;
      parkedAt.set(socket, performance.now());
      // Node has already applied the server's hint (Keep-Alive: timeout=…), which may be shorter.
      if (socket instanceof Socket)
        socket.setTimeout(Math.min(socket.timeout || SOCKET_IDLE_MAX_MS, SOCKET_IDLE_MAX_MS));
      return true;
    };
    agent.reuseSocket = (socket, request) => {
      reuseSocket(socket, request);
      if (socket instanceof Socket) socket.setTimeout(0);
    };
  }

  return {
    http,
    https,
    dropStale() {
      const now = performance.now();
      if (now < lookedAt + LOOK_EVERY_MS) return;
      lookedAt = now;
      const oldest = now - SOCKET_IDLE_MAX_MS + LOOK_EVERY_MS;
      for (const sockets of [http, https].flatMap((agent) => Object.values(agent.freeSockets))) {
        for (const socket of sockets ?? []) {
          // The list is ordered by the time of parking. Node skips destroyed sockets at its head.
          if ((parkedAt.get(socket) ?? 0) > oldest) break;
          socket.destroy();
        }
      }
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Larger than any answer of the interface. A longer body is a page of some other server. */
export const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Creates the got instances for reads, wallet checks and writes. None of them retries: a write must never be repeated
 * here, and reads are retried where each attempt is paced. They are used as streams, which got never retries and
 * which cost a third less than its promises.
 */
export function createInstances(
  profile: RealmProfile,
  agents: Agents,
): { readonly read: Got; readonly check: Got; readonly write: Got } {
  const { connectMs, tlsMs, responseMs, totalMs } = profile.timeouts;
  const base = got.extend({
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [], enforceRetryRules: true },
    // A redirected PATCH would be a second PATCH, and a redirected read would carry the key to another host.
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    strictContentLength: true,
    timeout: {
      lookup: connectMs,
      connect: connectMs,
      secureConnect: tlsMs,
      response: responseMs,
      request: totalMs,
    },
    request: requestWith(agents),
    handlers: [withFewOptions],
    headers: { 'user-agent': 'almoner', accept: 'application/json', 'accept-encoding': 'identity' },
  });
  const json = { 'content-type': 'application/json' };
  return {
    read: base.extend({ method: 'GET' }),
    // A separate instance, because got waits for a body on a stream that may have one.
    check: base.extend({ method: profile.wallets.method, allowGetBody: true, headers: json }),
    write: base.extend({ method: 'PATCH', headers: json }),
  };
}

/**
 * got collects about forty options for every request, which takes a tenth of the total time, and Node copies them.
 * This client needs only these two.
 */
const withFewOptions: HandlerFunction = (options, next) => {
  // got knows the final headers only at this point.
  options.createNativeRequestOptions = () => ({ headers: options.headers, method: options.method }) as Native;
  return next(options);
};
type Native = ReturnType<Options['createNativeRequestOptions']>;

function requestWith({ http, https }: Agents): RequestFunction {
  return (url, { headers, method }) => {
    const given = { headers, method } as RequestOptions;
    return url.protocol === 'https:'
      ? httpsRequest(url, { ...given, agent: https })
      : httpRequest(url, { ...given, agent: http });
  };
}
