import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Identity, RANKS, rankOf } from '../../operations/people/tokens.js';

/** The share of connections kept for strangers: connections without an admitted request. */
const NEWCOMERS = 1 / 4;

/** A token, or all strangers, with its open connections. */
type Holder = { readonly token: string; readonly rank: number; readonly sockets: Set<Socket> };

/**
 * Limits the number of connections and still accepts every new one: at the limit, an old one is closed.
 *
 * Every connection is a stranger's until its first request is admitted. Strangers have a share of their own. Above
 * that share the oldest stranger's connection is closed. Otherwise it is one of the token that holds most, a viewer's
 * before an operator's, and the least recently used one.
 *
 * So neither strangers nor tokens can keep an operator out, from however many addresses. A limit per address would
 * fail at that: behind a proxy, and on this machine, all people share one address.
 */
export class Connections {
  private readonly strangers: Holder = { token: '', rank: RANKS.indexOf('anyone'), sockets: new Set() };
  /** The holders by token. Each holder's sockets are in order of their last use. */
  private readonly known = new Map<string, Holder>();
  private readonly holderOf = new Map<Socket, Holder>();

  constructor(private readonly most: number) {}

  /** The number of tokens that hold a connection. */
  get tokens(): number {
    return this.known.size;
  }

  /** Adds a new connection, and closes another one at the limit. */
  add(socket: Socket): void {
    if (this.holderOf.size >= this.most) {
      const [least] = this.givesWay().sockets;
      least?.destroy();
      if (least !== undefined) this.leave(least);
    }
    this.take(socket, this.strangers);
    socket.once('close', () => this.leave(socket));
  }

  /** Counts a connection for its token once a request was admitted. */
  admitted(socket: Socket, { roles, tokenHash }: Pick<Identity, 'roles' | 'tokenHash'>): void {
    if (!this.leave(socket)) return;
    const rank = RANKS.indexOf(rankOf({ roles }));
    const holder = this.known.get(tokenHash) ?? { token: tokenHash, rank, sockets: new Set() };
    this.known.set(tokenHash, holder);
    this.take(socket, holder);
  }

  /** The holder that loses a connection at the limit. */
  private givesWay(): Holder {
    if (this.strangers.sockets.size >= this.most * NEWCOMERS) return this.strangers;
    let found: Holder | undefined;
    for (const holder of this.known.values()) {
      const lower = (found?.rank ?? RANKS.length) - holder.rank;
      if (lower > 0 || (lower === 0 && holder.sockets.size > (found?.sockets.size ?? 0))) found = holder;
    }
    return found ?? this.strangers;
  }

  private take(socket: Socket, holder: Holder): void {
    holder.sockets.add(socket);
    this.holderOf.set(socket, holder);
  }

  private leave(socket: Socket): boolean {
    const holder = this.holderOf.get(socket);
    holder?.sockets.delete(socket);
    // Forgets a token without connections. Otherwise revoked tokens would pile up.
    if (holder?.sockets.size === 0) this.known.delete(holder.token);
    return this.holderOf.delete(socket);
  }
}

/**
 * Closes a connection whose request body arrives too slowly, whether or not a handler reads it. `unlimited` exempts
 * an upload once its handler runs, which has limits of its own.
 */
export function limitBodies(
  app: FastifyInstance,
  bodyMs: number,
): { unlimited(request: FastifyRequest): void } {
  const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('onRequest', async (request) => {
    const { raw } = request;
    const timer = setTimeout(() => raw.complete || raw.socket.destroy(), bodyMs).unref();
    timers.set(request, timer);
    raw.once('close', () => clearTimeout(timer));
  });
  // Otherwise the server would wait for the rest of the body, and read it as the next request.
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!raw.complete) reply.header('connection', 'close');
  });
  return { unlimited: (request) => clearTimeout(timers.get(request)) };
}
