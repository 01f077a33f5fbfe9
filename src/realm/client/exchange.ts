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

/**
 * Connections are kept, but a socket that idled longer than this is closed instead of used again. Servers
 * close idle sockets after a few seconds; a request sent into that moment is reset and its outcome unknown.
 * Node's own options do not say this: `keepAliveMsecs` is the TCP probe, and `timeout` also applies to
 * sockets in use.
 */
export const SOCKET_IDLE_MAX_MS = 800;
/** Looking at all of them before every request costs more than it finds. */
const LOOK_EVERY_MS = 50;

export type Agents = {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** To be called before each request: the idle timer is late when the process was blocked or frozen. */
  dropStale(): void;
  close(): void;
};

export function createAgents(ca: string | undefined): Agents {
  const parkedAt = new WeakMap<Duplex, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  // Last in, first out: few sockets stay busy and the others age out.
  const usual = { keepAlive: true, scheduling: 'lifo' } as const;
  const http = new HttpAgent(usual);
  const https = new HttpsAgent({ ...usual, ...(ca === undefined ? {} : { ca }) });

  // Node destroys a socket whose time-out fires while it stands in the free list, and only then.
  for (const agent of [http, https]) {
    const keepSocketAlive = agent.keepSocketAlive.bind(agent);
    const reuseSocket = agent.reuseSocket.bind(agent);
    agent.keepSocketAlive = (socket) => {
      // Node returns whether the socket may be kept; its type declaration says void.
      const kept: unknown = keepSocketAlive(socket);
      if (kept === false) return false;
      parkedAt.set(socket, performance.now());
      // The server's own hint (Keep-Alive: timeout=…) has been set by Node and may be shorter.
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
          // The list is ordered by the time of parking; Node itself skips destroyed ones at its head.
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

/** More than any answer of the interface needs; what is larger is some other server's page. */
export const ANSWER_BYTES_MAX = 256 * 1024;

/**
 * Frozen got instances. Nothing in them repeats a request: writes must never be repeated here,
 * and reads are repeated where each try is paced. The instances are used as streams, which got never
 * retries, and which cost a third less than its promises.
 */
export function createInstances(
  profile: RealmProfile,
  agents: Agents,
): { readonly read: Got; readonly check: Got; readonly write: Got } {
  const { connectMs, tlsMs, responseMs, totalMs } = profile.timeouts;
  const base = got.extend({
    retry: { limit: 0, methods: [], statusCodes: [], errorCodes: [], enforceRetryRules: true },
    // A redirected PATCH is a second PATCH, and a redirected read carries the key to another place.
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
    // Apart from `read`, because a stream that may have a body waits for one.
    check: base.extend({ method: profile.wallets.method, allowGetBody: true, headers: json }),
    write: base.extend({ method: 'PATCH', headers: json }),
  };
}

/**
 * got gathers some forty options for every request, which takes it a tenth of the whole, and Node copies them; all but
 * these say nothing here.
 */
const withFewOptions: HandlerFunction = (options, next) => {
  // Headers are known only by then.
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
