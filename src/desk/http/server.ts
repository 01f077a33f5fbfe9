import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AlmonerError } from '../../core/errors/error.js';
import { storeFacts } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';
import { errorAnswer } from '../error-reply.js';
import { METRICS_TYPE, metricsText } from '../live/metrics.js';
import { allowedOrigins, type DeskAddress, hostsOf, shownUrl } from './access/address.js';
import { type Door, type Doorway, keepDoor, securityHeaders } from './access/door.js';
import { addressOf, type Visitor } from './access/guard.js';
import { cookieRules } from './access/sessions.js';
import { Connections, limitBodies } from './connections.js';
import { type Desk, type DeskOptions, openDesk } from './desk.js';
import { servePages } from './pages.js';
import { serveQueueBoard } from './queue-board.js';
import { Download, OpenLine, type Route, WithHeaders } from './route.js';
import { ROUTES } from './routes.js';

/** The options of the desk's server: routes, pages, metrics, health and queue board behind one access check. */
export type ServerOptions = DeskOptions & {
  readonly address: DeskAddress;
  /** The folder of the built pages. */
  readonly webFolder: string;
  /** How long a request body other than an upload may take to arrive. */
  readonly bodyMs?: number;
  readonly connectionsMax?: number;
};

export type DeskServer = {
  readonly desk: Desk;
  readonly ways: readonly Doorway[];
  listen(port: number): Promise<{ readonly url: string; readonly port: number }>;
  close(): Promise<void>;
};

const JSON_BYTES_MAX = 256 * 1024;
const HEADERS_MS = 15_000;
/** The longest upload. The upload itself cuts off slow senders much earlier. */
const REQUEST_MS = 30 * 60_000;
const BODY_MS = 10_000;
const LOOK_MS = 5_000;
const CONNECTIONS_MAX = 1_000;
const CLOSE_GRACE_MS = 2_000;

/** Makes the desk's server with its routes, live loop and notices. */
export async function createDesk(app: App, options: ServerOptions): Promise<DeskServer> {
  const desk = openDesk(app, options);
  const encrypted = options.address.publicUrl?.protocol === 'https:';
  const server = buildApp(desk, options.address, encrypted);
  const bodies = limitBodies(server, options.bodyMs ?? BODY_MS);
  const door = keepDoor(server, desk, encrypted);
  server.setErrorHandler((error, request, reply) => answerError(desk, error, request, reply));
  const connections = new Connections(options.connectionsMax ?? CONNECTIONS_MAX);
  server.server.on('connection', (socket) => connections.add(socket));
  server.addHook('onRequest', async (request) => {
    const visitor = door.visitorOf(request);
    if (visitor !== null) connections.admitted(request.raw.socket, visitor.identity);
  });

  for (const route of ROUTES) serveRoute(server, desk, route, { door, bodies });
  const closeBoard = await serveQueueBoard(server, app);
  serveMachines(server, desk);
  await servePages(server, options.webFolder);
  await desk.uploads.open();
  // Looks regularly, so that the pace chart has data for times when no page is open.
  const looks = setInterval(() => void desk.board.look(), LOOK_MS).unref();

  return {
    desk,
    ways: door.ways,
    async listen(port) {
      const { host } = options.address;
      try {
        await server.listen({ host: host.replace(/^\[|\]$/g, ''), port });
      } catch (cause) {
        throw new AlmonerError(
          'ALM_DESK_PORT_TAKEN',
          `Port ${port} on ${host} cannot be listened on. The desk was not started.`,
          { cause },
        );
      }
      const bound = server.server.address();
      const realPort = typeof bound === 'object' && bound !== null ? bound.port : port;
      const origins = allowedOrigins(options.address, realPort);
      desk.reached = { origins, hosts: hostsOf(origins), cookie: cookieRules(encrypted, realPort) };
      return { url: shownUrl(options.address, realPort), port: realPort };
    },
    async close() {
      clearInterval(looks);
      desk.live.close();
      desk.wrongTokens.close();
      const grace = setTimeout(() => server.server.closeAllConnections(), CLOSE_GRACE_MS);
      await server.close();
      clearTimeout(grace);
      await desk.tasks.settled();
      await desk.uploads.close();
      await closeBoard();
    },
  };
}

/** Makes the Fastify server with limits on time, size and connections. */
function buildApp(desk: Desk, { publicUrl }: DeskAddress, encrypted: boolean): FastifyInstance {
  const app = fastify({
    // Fastify refuses an address that it cannot decode, or one too long, before any hook runs.
    frameworkErrors(error, request, reply) {
      reply.headers({ ...securityHeaders('/', encrypted), connection: 'close' });
      answerError(desk, error, request, reply);
    },
    bodyLimit: JSON_BYTES_MAX,
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS, maxHeaderSize: 16 * 1024 },
    // Believes a proxy on this machine, announced by --public-url, about the visitor's address. Without --public-url
    // no proxy is believed.
    trustProxy: publicUrl === null ? false : 'loopback',
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 300 },
  });
  // Node answers an unknown Expect header by itself and would bypass every check below.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  // Parses only JSON, and raw files for uploads.
  app.removeContentTypeParser('text/plain');
  for (const type of ['text/csv', 'text/plain', 'application/octet-stream', 'application/vnd.ms-excel'])
    app.addContentTypeParser(type, (_, payload, done) => done(null, payload));
  return app;
}

type Entrance = { readonly door: Door; readonly bodies: ReturnType<typeof limitBodies> };

/** Serves one route: body, access, audit, handler and reply. */
function serveRoute(app: FastifyInstance, desk: Desk, route: Route, { door, bodies }: Entrance): void {
  app.route({
    method: route.method,
    url: route.path,
    config: { access: route.access },
    async handler(request, reply) {
      if (route.file !== undefined) bodies.unlimited(request);
      const visitor = door.visitorOf(request);
      // A body may take long to arrive. A token that was revoked meanwhile must not change anything.
      if (route.method !== 'GET' && visitor !== null && !(await desk.guard.stillHolds(visitor.identity)))
        throw new AlmonerError('ALM_DESK_NOT_SIGNED_IN', 'Nobody is signed in. Nothing was done.');
      const length = Number(request.headers['content-length'] ?? Number.NaN);
      const asked = route.method === 'GET' ? { ...desk, app: desk.looking } : desk;
      const answer = await route.handle(asked, {
        params: request.params,
        query: request.query,
        body: request.body === null ? undefined : request.body,
        visitor,
        address: addressOf(request),
        contentLength: Number.isFinite(length) ? length : null,
        isGone: () => request.raw.socket.destroyed,
      });
      if (answer instanceof OpenLine && visitor !== null) return openLine(desk, answer, visitor, reply);
      return sendAnswer(answer, reply);
    },
  });
}

/** Sends a handler's result as a file, with headers, or as JSON. */
function sendAnswer(answer: unknown, reply: FastifyReply): FastifyReply {
  if (answer instanceof WithHeaders) return sendAnswer(answer.value, reply.headers(answer.headers));
  if (answer instanceof Download) {
    const plain = answer.name.replaceAll(/[^\w.-]/g, '_');
    // Sandboxed: a report opened in a tab cannot reach the desk.
    return reply
      .headers({
        'content-disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(answer.name)}`,
        'content-security-policy': "default-src 'none'; sandbox",
      })
      .type(answer.type)
      .send(answer.content);
  }
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer ?? null));
}

/** Opens a live connection and hands it to the live loop. */
function openLine(desk: Desk, { batch }: OpenLine, visitor: Visitor, reply: FastifyReply): FastifyReply {
  const { identity, session } = visitor;
  desk.live.checkRoom(identity.name);
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  desk.live.add({
    out: reply.raw,
    who: identity.name,
    batch,
    stillWelcome: async () =>
      (session === null || (await desk.sessions.touch(session.key)) !== null) &&
      (await desk.guard.stillHolds(identity)),
  });
  return reply;
}

/** Serves the machines that watch the desk: health to everyone, without data; metrics with a token. */
function serveMachines(app: FastifyInstance, desk: Desk): void {
  const open = { exposeHeadRoute: true, config: { access: 'anyone' } } as const;
  app.get('/health', open, async () => ({ ok: true }));
  app.get('/ready', open, async (_, reply) => {
    const ready = await storeFacts.ping(desk.looking.scripts);
    return reply.status(ready ? 200 : 503).send({ ok: ready });
  });
  app.get('/metrics', { config: { access: 'viewer' } }, async (_, reply) =>
    reply.type(METRICS_TYPE).send(await metricsText(desk)),
  );
}

/** Turns an error into a reply with code, message and next step, and logs a bug. */
function answerError(desk: Desk, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body, bug } = errorAnswer(error);
  if (bug)
    desk.app.logger.error({ err: error, method: request.method, route: request.routeOptions.url }, 'desk');
  return reply
    .status(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}
