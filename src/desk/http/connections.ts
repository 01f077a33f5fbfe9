import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Identity, RANKS, rankOf } from '../../operations/people/tokens.js';

/** The share of all places that is kept for connections over which nobody was admitted yet. */
const NEWCOMERS = 1 / 4;

type Holder = { readonly token: string; readonly rank: number; readonly sockets: Set<Socket> };

/**
 * At most so many connections, and nobody is turned away: where all are taken, one gives way. Strangers have a share
 * for themselves, because everybody is one until the first request is read: where it is used up, the stranger's gives
 * way that came longest ago. Otherwise it is one of the token that holds most, a viewer's before an operator's, and
 * the one that was of use longest ago. So nobody keeps an operator out, from however many addresses, with a token or
 * without. A share for each address would not do that: behind a proxy, and on this machine, all have one.
 */
export class Connections {
  private readonly strangers: Holder = { token: '', rank: RANKS.indexOf('anyone'), sockets: new Set() };
  /** The holders by token; the sockets of each stand in the order in which they were of use. */
  private readonly known = new Map<string, Holder>();
  private readonly holderOf = new Map<Socket, Holder>();

  constructor(private readonly most: number) {}

  /** Tokens that hold a connection. */
  get tokens(): number {
    return this.known.size;
  }

  add(socket: Socket): void {
    if (this.holderOf.size >= this.most) {
      const [least] = this.givesWay().sockets;
      least?.destroy();
      if (least !== undefined) this.leave(least);
    }
    this.take(socket, this.strangers);
    socket.once('close', () => this.leave(socket));
  }

  admitted(socket: Socket, { roles, tokenHash }: Pick<Identity, 'roles' | 'tokenHash'>): void {
    if (!this.leave(socket)) return;
    const rank = RANKS.indexOf(rankOf({ roles }));
    const holder = this.known.get(tokenHash) ?? { token: tokenHash, rank, sockets: new Set() };
    this.known.set(tokenHash, holder);
    this.take(socket, holder);
  }

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
    // A token that holds nothing is forgotten: revoked ones would stay for ever.
    if (holder?.sockets.size === 0) this.known.delete(holder.token);
    return this.holderOf.delete(socket);
  }
}

/**
 * A body that trickles holds a connection, whether or not anybody reads it. `unlimited` is for uploads, which
 * watch over themselves once somebody takes them.
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
  // What is left of a body would be waited for, and then be taken for the next request.
  app.addHook('onSend', async ({ raw }, reply) => {
    if (!raw.complete) reply.header('connection', 'close');
  });
  return { unlimited: (request) => clearTimeout(timers.get(request)) };
}
