import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Got, got, type HandlerFunction, type Options, type RequestFunction } from 'got';
import type { RealmProfile } from '../../core/profile.js';

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
