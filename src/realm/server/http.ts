import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import { z } from 'zod';
import type { Rate } from '../../core/profile.js';
import { type Answer, invalid, rateHeaders, refuse, tooManyRequests } from './answer.js';
import { type ApiKeys, authenticate } from './api-keys.js';
import { PREFIX, ROUTES, type Route } from './calls.js';
import { OPENAPI } from './openapi.js';
import { readIdempotencyKey } from './request.js';
import { type Serving, serveCall, storeUnavailable } from './serve-call.js';
import { StoreFailure } from './store.js';
import { openWire, sendAnswer } from './wire.js';

export type HttpOptions = {
  readonly apiKeys: ApiKeys;
  readonly rateLimit: Rate | null;
  readonly newRequestId: () => string;
  readonly closing: AbortSignal;
  readonly serving: Serving;
};

const BODY_MAX_BYTES = 256 * 1024;
const RECEIVE_MAX_MS = 30_000;
/** Long enough for a realm id of 128 characters, percent-encoded. */
const PATH_PARAMETER_MAX = 2_048;
const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

const params = z.object({ realmID: z.string(), memberID: z.string().default('') });

/** Builds the HTTP server: authentication, rate limit, the route table, and one JSON shape for every failure. */
export function buildHttp(options: HttpOptions): FastifyInstance {
  const { serving } = options;
  const app = Fastify({
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: RECEIVE_MAX_MS,
    forceCloseConnections: 'idle',
    genReqId: options.newRequestId,
    routerOptions: { maxParamLength: PATH_PARAMETER_MAX },
    frameworkErrors: (error, request, reply) => sendAnswer(reply, request.id, failure(error)),
  });
  // The wallet check is a GET with a body. Fastify drops such bodies unless the method is declared to have one.
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  // Bodies stay text: reads ignore them, and the other calls parse them without losing digits.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));

  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const about = {
      requestId: request.id,
      method: request.method,
      url: request.url,
      status: reply.statusCode,
    };
    serving.logger?.debug({ ...about, ms: Math.round(reply.elapsedTime) }, 'answered');
  });
  app.setNotFoundHandler((request, reply) => {
    sendAnswer(
      reply,
      request.id,
      refuse(404, 'not_found', `There is no ${request.method} ${PREFIX} call at this path.`),
    );
  });
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (error instanceof StoreFailure) return sendAnswer(reply, request.id, storeUnavailable(false));
    const answer = failure(error);
    if (answer.status >= 500)
      serving.logger?.error({ requestId: request.id, error: error.message }, 'request failed');
    return sendAnswer(reply, request.id, answer);
  });

  for (const route of ROUTES) {
    app.route({
      method: route.method,
      url: routerPath(route.path),
      onRequest: (request, reply) => admit(options, request, reply),
      handler: (request, reply) => handle(options, route, request, reply),
    });
  }
  app.get(`${PREFIX}/openapi.json`, (request, reply) =>
    sendAnswer(reply, request.id, { status: 200, body: OPENAPI }),
  );
  refuseOtherMethods(app);
  return app;
}

/**
 * Runs before the body is read: an unauthorized caller cannot make the service read a body, and a request counts on
 * arrival.
 */
async function admit(options: HttpOptions, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { realmID } = params.parse(request.params);
  const refusal = await authenticate(options.apiKeys, request.headers.authorization, realmID);
  if (refusal !== undefined) return sendAnswer(reply, request.id, refusal);
  if (options.rateLimit === null) return undefined;
  const admission = await options.serving.accounts.admit(realmID, options.rateLimit);
  reply.headers(rateHeaders(options.rateLimit, admission));
  return admission.admitted ? undefined : sendAnswer(reply, request.id, tooManyRequests(admission.resetMs));
}

/** Reads the call from the request and serves it. */
async function handle(options: HttpOptions, route: Route, request: FastifyRequest, reply: FastifyReply) {
  const header = route.method === 'PATCH' ? request.headers['idempotency-key'] : undefined;
  const key = readIdempotencyKey(header);
  if (!key.ok) return sendAnswer(reply, request.id, key.refusal);
  const { realmID, memberID } = params.parse(request.params);
  const call = {
    realmId: realmID,
    memberText: memberID,
    contentType: request.headers['content-type'],
    bodyText: typeof request.body === 'string' ? request.body : '',
    idempotencyKey: key.value,
    requestId: request.id,
  };
  await serveCall(options.serving, route, call, openWire(reply, request.id, options.closing));
  return reply;
}

/** Answers other methods on known paths with 405 and the list of allowed methods. */
function refuseOtherMethods(app: FastifyInstance): void {
  for (const path of new Set([...ROUTES.map((route) => route.path), '/openapi.json'])) {
    const served: string[] = ROUTES.filter((route) => route.path === path).map((route) => route.method);
    if (served.length === 0) served.push('GET');
    if (served.includes('GET')) served.push('HEAD');
    const allow = [...served, 'OPTIONS'].join(', ');
    app.route({
      method: ALL_METHODS.filter((method) => !served.includes(method)),
      url: routerPath(path),
      onRequest: async (request, reply) => {
        reply.header('allow', allow);
        if (request.method === 'OPTIONS') return reply.code(204).send();
        const message = `${request.method} is not part of this call; allowed: ${allow}.`;
        return sendAnswer(reply, request.id, refuse(405, 'method_not_allowed', message));
      },
      handler: (_request, reply) => reply,
    });
  }
}

/** Translates `{realmID}` to the router's `:realmID`. */
function routerPath(path: string): string {
  return `${PREFIX}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
}

/** Gives Fastify's own refusals (body too large, bad URL …) the JSON shape of the service. */
function failure(error: FastifyError): Answer {
  switch (error.statusCode) {
    case 413:
      return refuse(413, 'payload_too_large', `The body may hold at most ${BODY_MAX_BYTES} bytes.`);
    case 415:
      return refuse(
        415,
        'unsupported_media_type',
        'The Content-Type header could not be read; send application/json.',
      );
    case 400:
    case 414:
      return { ...invalid(`The request could not be read: ${error.message}.`), status: error.statusCode };
    default:
      return refuse(
        500,
        'internal_error',
        'The service failed before the call was handled. Nothing was changed.',
      );
  }
}
