import { type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Connections are kept, but a socket that idled longer than this is closed instead of used again. Servers
 * close idle sockets after a few seconds; a request sent into that moment is reset and its outcome unknown.
 * Node's own options do not say this: `keepAliveMsecs` is the TCP probe, and `timeout` also applies to
 * sockets in use.
 */
export const SOCKET_IDLE_MAX_MS = 800;

export type Agents = {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** To be called before each request: the idle timer is late when the process was blocked or frozen. */
  dropStale(): void;
  close(): void;
};

export function createAgents(ca: string | undefined): Agents {
  const parkedAt = new WeakMap<Duplex, number>();

  const park = (socket: Duplex) => {
    parkedAt.set(socket, performance.now());
    if (!(socket instanceof Socket)) return;
    // The server's own hint (Keep-Alive: timeout=…) has been set by Node and may be shorter.
    socket.setTimeout(Math.min(socket.timeout || SOCKET_IDLE_MAX_MS, SOCKET_IDLE_MAX_MS));
  };
  const wake = (socket: Duplex) => {
    if (socket instanceof Socket) socket.setTimeout(0);
  };

  // Node destroys a socket whose time-out fires while it stands in the free list, and only then.
  class FreshHttpAgent extends HttpAgent {
    override keepSocketAlive(socket: Duplex): boolean {
      const keep = keepable(super.keepSocketAlive(socket));
      if (keep) park(socket);
      return keep;
    }
    override reuseSocket(socket: Duplex, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      wake(socket);
    }
  }
  class FreshHttpsAgent extends HttpsAgent {
    override keepSocketAlive(socket: Duplex): boolean {
      const keep = keepable(super.keepSocketAlive(socket));
      if (keep) park(socket);
      return keep;
    }
    override reuseSocket(socket: Duplex, request: ClientRequest): void {
      super.reuseSocket(socket, request);
      wake(socket);
    }
  }

  // Last in, first out: few sockets stay busy and the others age out.
  const http = new FreshHttpAgent({ keepAlive: true, scheduling: 'lifo' });
  const https = new FreshHttpsAgent({
    keepAlive: true,
    scheduling: 'lifo',
    ...(ca === undefined ? {} : { ca }),
  });

  return {
    http,
    https,
    dropStale() {
      const oldest = performance.now() - SOCKET_IDLE_MAX_MS;
      for (const agent of [http, https]) {
        for (const name in agent.freeSockets) {
          for (const socket of agent.freeSockets[name] ?? []) {
            // The list is ordered by the time of parking; Node itself skips destroyed ones at its head.
            if ((parkedAt.get(socket) ?? 0) > oldest) break;
            socket.destroy();
          }
        }
      }
    },
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Node returns whether the socket may be kept; its type declaration says void. */
function keepable(answer: unknown): boolean {
  return answer !== false;
}
