import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ACCESSES, type Access } from './access/tokens.js';

/**
 * At most so many connections, and nobody is turned away: where all are taken, the one gives way that was of
 * use longest ago, a stranger's first, then a viewer's. So nobody keeps an operator out, from however many
 * addresses. A share for each address would not do that: behind a proxy, and on this machine, all have one.
 */
export class Connections {
  /** By the rank of who was last admitted over them, each in the order of that. */
  private readonly held = ACCESSES.map(() => new Set<Socket>());

  constructor(private readonly most: number) {}

  add(socket: Socket): void {
    if (this.held.reduce((sum, { size }) => sum + size, 0) >= this.most) {
      const [least] = this.held.find(({ size }) => size > 0) ?? [];
      least?.destroy();
      if (least !== undefined) this.leave(least);
    }
    this.held[ACCESSES.indexOf('anyone')]?.add(socket);
    socket.once('close', () => this.leave(socket));
  }

  admitted(socket: Socket, access: Access): void {
    if (this.leave(socket)) this.held[ACCESSES.indexOf(access)]?.add(socket);
  }

  private leave(socket: Socket): boolean {
    return this.held.some((sockets) => sockets.delete(socket));
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
