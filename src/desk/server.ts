import { Readable } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { AlmonerError } from '../core/errors/error.js';
import { allowedOrigins, type DeskAddress, hostsOf, shownUrl } from './access/address.js';
import { cookieRules } from './access/cookie.js';
import type { Visitor } from './access/guard.js';
import { securityHeaders } from './access/headers.js';
import { BOARD_PATH } from './board-adapter.js';
import { type Desk, openDesk } from './desk.js';
import { errorAnswer } from './error-reply.js';
import { DeskMetrics } from './metrics.js';
import type { DeskParts } from './parts.js';
import { openQueueBoard } from './queue-board.js';
import { Download, OpenLine, type Route, WithHeaders } from './route.js';
import { ROUTES } from './routes.js';
import { fileFor, loadStaticFiles } from './static-files.js';
import type { UploadLimits } from './upload-watch.js';

/**
 * The desk over HTTP: the table of routes, the pages, metrics, health and the queue board, all behind one
 * guard. Closed by default: a path that is not listed as open needs somebody who is signed in.
 */
export type DeskOptions = {
  readonly address: DeskAddress;
  /** Printed at the start on loopback; null where tokens are configured or the desk is open to a network. */
  readonly localToken: string | null;
  readonly uploadLimits?: UploadLimits;
  /** How long a body that is no upload may take to arrive. */
  readonly bodyMs?: number;
};

export type DeskServer = {
  readonly desk: Desk;
  listen(port: number): Promise<{ readonly url: string; readonly port: number }>;
  close(): Promise<void>;
};

const JSON_BYTES_MAX = 256 * 1024;
const HEADERS_MS = 15_000;
/** The longest upload; what trickles is cut off much earlier by the upload itself. */
const REQUEST_MS = 30 * 60_000;
const BODY_MS = 10_000;
const LOOK_MS = 5_000;
const UPLOAD_PATH = '/api/uploads';
const CONNECTIONS_MAX = 1_000;
const CLOSE_GRACE_MS = 2_000;

export async function createDesk(parts: DeskParts, options: DeskOptions): Promise<DeskServer> {
  const desk = openDesk(parts, options);
  const encrypted = options.address.publicUrl?.protocol === 'https:';
  const app = buildApp(options, (error, request, reply) => {
    reply.headers(securityHeaders('/', encrypted));
    answerError(desk, error, request, reply);
  });
  const visitors = new WeakMap<FastifyRequest, Visitor>();

  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request);
    reply.headers(securityHeaders(path, encrypted));
    const asked = { method: request.method, path, address: request.ip, headers: request.headers };
    desk.guard.checkPlace(asked, desk.reached);
    const access = accessOf(request);
    if (access !== 'anyone') visitors.set(request, await desk.guard.admit(asked, desk.reached, access));
  });
  app.setErrorHandler((error, request, reply) => answerError(desk, error, request, reply));
  limitBodies(app, options.bodyMs ?? BODY_MS);

  for (const route of ROUTES) serveRoute(app, desk, route, visitors);
  await serveRest(app, desk);
  await desk.uploads.open();

  const board = openQueueBoard(parts);
  await board.adapter.register(app);
  // The chart of the pace goes on while nobody looks.
  const looks = setInterval(() => void desk.board.look(), LOOK_MS).unref();
  const metrics = new DeskMetrics(desk);
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.text()));

  return {
    desk,
    async listen(port) {
      const { host } = options.address;
      try {
        await app.listen({ host: host.replace(/^\[|\]$/g, ''), port });
      } catch (cause) {
        throw new AlmonerError(
          'ALM_DESK_PORT_TAKEN',
          `Port ${port} on ${host} cannot be listened on. The desk was not started.`,
          { cause },
        );
      }
      const bound = app.server.address();
      const realPort = typeof bound === 'object' && bound !== null ? bound.port : port;
      const origins = allowedOrigins(options.address, realPort);
      desk.reached = { origins, hosts: hostsOf(origins), cookie: cookieRules(encrypted, realPort) };
      return { url: shownUrl(options.address, realPort), port: realPort };
    },
    async close() {
      clearInterval(looks);
      desk.live.close();
      const grace = setTimeout(() => app.server.closeAllConnections(), CLOSE_GRACE_MS);
      await app.close();
      clearTimeout(grace);
      await desk.tasks.settled();
      await desk.uploads.close();
      await board.close();
    },
  };
}

type Refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

function buildApp({ address }: DeskOptions, refuse: Refuse): FastifyInstance {
  const app = fastify({
    // An address that cannot be decoded, or is too long, is refused before any hook runs.
    frameworkErrors: refuse,
    logger: false,
    bodyLimit: JSON_BYTES_MAX,
    exposeHeadRoutes: false,
    requestTimeout: REQUEST_MS,
    http: { headersTimeout: HEADERS_MS, maxHeaderSize: 16 * 1024 },
    // Behind a proxy on this machine the visitor's address is what the proxy says; else nobody is believed.
    trustProxy: address.publicUrl === null ? false : 'loopback',
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 300 },
    return503OnClosing: true,
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  // Only JSON, and raw files for uploads; nothing else is parsed at all.
  app.removeContentTypeParser('text/plain');
  for (const type of ['text/csv', 'text/plain', 'application/octet-stream', 'application/vnd.ms-excel'])
    app.addContentTypeParser(type, (_, payload, done) => done(null, payload));
  return app;
}

/** A body that trickles holds a connection; uploads watch over themselves, all others are small. */
function limitBodies(app: FastifyInstance, bodyMs: number): void {
  const timers = new WeakMap<FastifyRequest, NodeJS.Timeout>();
  app.addHook('preParsing', async (request) => {
    if (request.routeOptions.url === UPLOAD_PATH) return;
    const timer = setTimeout(() => request.raw.destroy(), bodyMs);
    timers.set(request, timer.unref());
  });
  app.addHook('preValidation', async (request) => clearTimeout(timers.get(request)));
}

function serveRoute(
  app: FastifyInstance,
  desk: Desk,
  route: Route,
  visitors: WeakMap<FastifyRequest, Visitor>,
): void {
  app.route({
    method: route.method,
    url: route.path,
    config: { access: route.access },
    async handler(request, reply) {
      const visitor = visitors.get(request) ?? null;
      const length = Number(request.headers['content-length'] ?? Number.NaN);
      const answer = await route.handle(desk, {
        params: request.params,
        query: request.query,
        body: request.body === null ? undefined : request.body,
        visitor,
        address: request.ip,
        contentLength: Number.isFinite(length) ? length : null,
      });
      if (answer instanceof OpenLine && visitor !== null) return openLine(desk, answer, visitor, reply);
      return sendAnswer(answer, reply);
    },
  });
}

function sendAnswer(answer: unknown, reply: FastifyReply): FastifyReply {
  if (answer instanceof WithHeaders) return sendAnswer(answer.value, reply.headers(answer.headers));
  if (answer instanceof Download) {
    const plain = answer.name.replaceAll(/[^\w.-]/g, '_');
    // Sandboxed: a report opened in a tab can reach nothing of the desk.
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

/** Health for machines, and the pages for people; both say nothing about anybody's money. */
async function serveRest(app: FastifyInstance, desk: Desk): Promise<void> {
  app.get('/health', { exposeHeadRoute: true }, async () => ({ ok: true }));
  app.get('/ready', { exposeHeadRoute: true }, async (_, reply) => {
    const ready = await desk.parts.caller.redis.ping().then(
      () => true,
      () => false,
    );
    return reply.status(ready ? 200 : 503).send({ ok: ready });
  });
  const files = await loadStaticFiles(desk.parts.webFolder);
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request);
    if ((request.method !== 'GET' && request.method !== 'HEAD') || isGuarded(path))
      throw new AlmonerError('ALM_DESK_NOT_FOUND', 'There is nothing under this address.');
    if (files.size === 0)
      throw new AlmonerError('ALM_DESK_NO_PAGES', 'The pages of the desk were not built. Its API works.');
    const file = fileFor(files, path);
    if (file === undefined)
      throw new AlmonerError('ALM_DESK_NOT_FOUND', 'There is nothing under this address.');
    reply.headers({ etag: file.etag, 'cache-control': file.cacheControl });
    if (request.headers['if-none-match'] === file.etag) return reply.status(304).send();
    return reply.type(file.type).send(Readable.from([file.bytes]));
  });
}

function answerError(desk: Desk, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, headers, body, bug } = errorAnswer(error);
  if (bug)
    desk.parts.logger.error({ err: error, method: request.method, route: request.routeOptions.url }, 'desk');
  // What is left of a body that nobody read would be taken for the next request.
  if (status === 413 || status === 408) reply.header('connection', 'close');
  return reply
    .status(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

function accessOf(request: FastifyRequest): Route['access'] {
  const { config } = request.routeOptions;
  if ('access' in config) {
    const known = (['anyone', 'viewer', 'operator'] as const).find((access) => access === config.access);
    if (known !== undefined) return known;
  }
  return isGuarded(pathOf(request)) ? 'viewer' : 'anyone';
}

/** Everything but the pages themselves (which hold no data) and the two questions of machines. */
function isGuarded(path: string): boolean {
  return ['/api', '/metrics', BOARD_PATH].some((root) => path === root || path.startsWith(`${root}/`));
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '/';
}
