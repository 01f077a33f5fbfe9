import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Desk } from '../../desk.js';
import type { Visitor } from './guard.js';
import { securityHeaders } from './headers.js';
import { ACCESSES, type Access } from './tokens.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** A route as the router knows it, and who may take it. */
export type Doorway = { readonly method: string; readonly url: string; readonly access: Access };

export type Door = {
  readonly ways: readonly Doorway[];
  /** Null on routes for anyone. */
  visitorOf(request: FastifyRequest): Visitor | null;
};

/**
 * Who may pass is said by the route that the router matched, never by the address as it was spelt: the router
 * decodes, cuts off fragments and takes absolute forms, so whoever reads the text judges another address.
 * A route without an access cannot be registered; what matches no route needs somebody who is signed in.
 */
export function keepDoor(app: FastifyInstance, desk: Desk, encrypted: boolean): Door {
  const ways: Doorway[] = [];
  const visitors = new WeakMap<FastifyRequest, Visitor>();
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = ACCESSES.find((known) => known === config?.access);
    if (access === undefined) throw new Error(`${[method].flat().join()} ${url} says not who may use it`);
    for (const one of [method].flat()) ways.push({ method: one, url, access });
  });
  app.addHook('onRequest', async (request, reply) => {
    const { url = '', config } = request.routeOptions;
    reply.headers(securityHeaders(url, encrypted));
    const { method, headers } = request;
    const asked = { method, route: url, address: addressOf(request), headers };
    desk.guard.checkPlace(asked, desk.reached);
    const { access = 'viewer' } = config;
    if (access !== 'anyone') visitors.set(request, await desk.guard.admit(asked, desk.reached, access));
  });
  return { ways, visitorOf: (request) => visitors.get(request) ?? null };
}

/** Whose tries are counted. A proxy that is believed may still pass on what is no address at all. */
export function addressOf({ ip, socket }: FastifyRequest): string {
  return isIP(ip) === 0 ? (socket.remoteAddress ?? '') : ip;
}
