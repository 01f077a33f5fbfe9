import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { DEAD_QUEUE, ORDERS_QUEUE, openQueue } from '../../queue/queues.js';
import type { App } from '../../runtime/app.js';
import { BOARD_PATH } from './access/door.js';
import { loadStaticFiles } from './pages.js';

const texts = z.record(z.string(), z.string()).catch({});

/** Collects what bull-board registers through its adapter: pages and routes. */
function boardOf(queues: readonly BullMQAdapter[]) {
  let told = {
    queues: new Map() as BullBoardQueues,
    views: '',
    statics: { route: '', path: '' },
    entry: null as AppViewRoute | null,
    api: [] as readonly AppControllerRoute[],
    uiConfig: {} as UIConfig,
  };
  const keep = (part: Partial<typeof told>) => {
    told = { ...told, ...part };
    return serverAdapter;
  };
  const serverAdapter: IServerAdapter = {
    setQueues: (queues) => keep({ queues }),
    setViewsPath: (views) => keep({ views }),
    setStaticPath: (route, path) => keep({ statics: { route, path } }),
    setEntryRoute: (entry) => keep({ entry }),
    // The desk's own error handler answers.
    setErrorHandler: () => keep({}),
    setApiRoutes: (routes) => keep({ api: routes.filter(({ method }) => method === 'get') }),
    setUIConfig: (uiConfig) => keep({ uiConfig }),
  };
  createBullBoard({
    queues,
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: 'almoner queues',
        miscLinks: [{ text: 'Back to the desk', url: '/' }],
        hideRedisDetails: true,
      },
    },
  });
  return told;
}

type Board = ReturnType<typeof boardOf>;

/** Registers the board's reading routes and pages. */
async function register(app: FastifyInstance, board: Board): Promise<void> {
  const { queues, uiConfig, statics, entry, api } = board;
  if (entry === null) throw new Error('the board has no page');
  const page = await pageOf(entry, board);
  const viewer = { config: { access: 'viewer' } } as const;
  for (const path of [entry.route].flat())
    app.get(path === '/' ? BOARD_PATH : `${BOARD_PATH}${path}`, viewer, (_, reply) =>
      reply.type('text/html; charset=utf-8').send(page),
    );
  for (const [path, { bytes, type, cacheControl }] of await loadStaticFiles(statics.path))
    app.get(`${BOARD_PATH}${statics.route}${path}`, viewer, (_, reply) =>
      reply.type(type).header('cache-control', cacheControl).send(bytes),
    );
  for (const { route, handler } of api)
    for (const path of [route].flat())
      app.get(`${BOARD_PATH}${path}`, viewer, async (request, reply) => {
        const [params, query] = [texts.parse(request.params), texts.parse(request.query)];
        const asked = { queues, uiConfig, params, query, body: {}, headers: {} };
        const { status = 200, body } = await handler(asked);
        return reply.status(status).send(body);
      });
}

/** Renders the board's page without its link to another host. */
async function pageOf({ handler }: AppViewRoute, { uiConfig, views }: Board): Promise<string> {
  const { name, params } = handler({ basePath: BOARD_PATH, uiConfig });
  const template = await readFile(join(views, name), 'utf8');
  return template
    .replaceAll(/<link[^>]+https?:[^>]*>/g, '')
    .replaceAll(/<%([=-])\s*(\w+)\s*%>/g, (_, kind: string, field: string) => {
      const value = params[field] ?? '';
      return kind === '-' ? value : value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
    });
}

/**
 * Serves bull-board for the queues of the configured realms, for reading only: jobs are deliveries, and orders change
 * only through the ledger. Returns a function that closes the queues.
 *
 * It does not use @bull-board/fastify. That adapter registers every route, including those that change queues, serves
 * a page that loads fonts from another host, and is pinned to another version of the board than its pages. Here
 * changing routes do not exist.
 */
export async function serveQueueBoard(server: FastifyInstance, app: App): Promise<() => Promise<void>> {
  const connection = app.store.connect('board');
  const queues = app.config.profiles.flatMap((profile) =>
    [ORDERS_QUEUE, DEAD_QUEUE].map((queue) => ({
      prefix: `${profile.name}.`,
      queue: openQueue<unknown>(app.ledger(profile), queue, connection),
    })),
  );
  const shown = queues.map(
    ({ prefix, queue }) => new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false, prefix }),
  );
  await register(server, boardOf(shown));
  return async () => {
    await Promise.all(queues.map(({ queue }) => queue.close()));
    connection.disconnect();
  };
}
