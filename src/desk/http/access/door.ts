import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Access, isAccess } from '../../../operations/people/tokens.js';
import type { Desk } from '../desk.js';
import type { Visitor } from './guard.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
}

/** A route as the router knows it, with the access it requires. */
export type Doorway = { readonly method: string; readonly url: string; readonly access: Access };

export type Door = {
  readonly ways: readonly Doorway[];
  /** The visitor; null on routes for anyone. */
  visitorOf(request: FastifyRequest): Visitor | null;
};

/**
 * Checks access for every request by the route that the router matched, never by the address text: the router
 * decodes, cuts off fragments and accepts absolute forms, so that the text may name another route. A route without an
 * access cannot be registered. An address without a route needs a signed-in person.
 */
export function keepDoor(app: FastifyInstance, desk: Desk, encrypted: boolean): Door {
  const ways: Doorway[] = [];
  const visitors = new WeakMap<FastifyRequest, Visitor>();
  app.addHook('onRoute', ({ method, url, config }) => {
    const access = config?.access;
    if (!isAccess(access)) throw new Error(`${[method].flat().join()} ${url} says not who may use it`);
    for (const one of [method].flat()) ways.push({ method: one, url, access });
  });
  app.addHook('onRequest', async (request, reply) => {
    const { url = '', config } = request.routeOptions;
    reply.headers(securityHeaders(url, encrypted));
    desk.guard.checkPlace(request, desk.reached);
    const { access = 'viewer' } = config;
    if (access !== 'anyone') visitors.set(request, await desk.guard.admit(request, desk.reached, access));
  });
  return { ways, visitorOf: (request) => visitors.get(request) ?? null };
}

/**
 * The content policy of every reply. Scripts, styles and requests stay on this host and nothing inline runs. A script
 * in a CSV cell stays text, even if a page forgot to escape it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
];

export const BOARD_PATH = '/queues';

/** The queue board sets inline styles and a base. Its scripts stay as strict as elsewhere. */
const BOARD_POLICY = POLICY.map((rule) => {
  if (rule.startsWith('style-src')) return "style-src 'self' 'unsafe-inline'";
  return rule.startsWith('base-uri') ? "base-uri 'self'" : rule;
});

/** The security headers of a reply. */
export function securityHeaders(route: string, encrypted: boolean): Readonly<Record<string, string>> {
  const board = route === BOARD_PATH || route.startsWith(`${BOARD_PATH}/`);
  return {
    'content-security-policy': (board ? BOARD_POLICY : POLICY).join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
    ...(encrypted ? { 'strict-transport-security': 'max-age=31536000' } : {}),
    // The files of the page set their own header.
    'cache-control': 'no-store',
  };
}
