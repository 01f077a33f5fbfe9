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
import { loadStaticFiles } from './pages.js';

/**
 * Puts bull-board's pages and its reading routes under one path. Not @bull-board/fastify: that one registers
 * every route, those that change queues included, serves a page that asks another host for its fonts, and is
 * pinned to another version of the board than its pages. Here what changes something does not exist.
 */
const BOARD_PATH = '/queues';

const texts = z.record(z.string(), z.string()).catch({});

class BoardAdapter implements IServerAdapter {
  private queues: BullBoardQueues = new Map();
  private views = '';
  private statics = { route: '', path: '' };
  private entry: AppViewRoute | null = null;
  private api: readonly AppControllerRoute[] = [];
  private uiConfig: UIConfig = {};

  setQueues(queues: BullBoardQueues): this {
    this.queues = queues;
    return this;
  }

  setViewsPath(path: string): this {
    this.views = path;
    return this;
  }

  setStaticPath(route: string, path: string): this {
    this.statics = { route, path };
    return this;
  }

  setEntryRoute(route: AppViewRoute): this {
    this.entry = route;
    return this;
  }

  /** Errors are answered as everywhere in the desk. */
  setErrorHandler(): this {
    return this;
  }

  setApiRoutes(routes: AppControllerRoute[]): this {
    this.api = routes.filter(({ method }) => method === 'get');
    return this;
  }

  setUIConfig(config: UIConfig): this {
    this.uiConfig = config;
    return this;
  }

  async register(app: FastifyInstance): Promise<void> {
    const page = await this.page();
    const viewer = { config: { access: 'viewer' } } as const;
    for (const path of [this.entry?.route ?? '/'].flat())
      app.get(path === '/' ? BOARD_PATH : `${BOARD_PATH}${path}`, viewer, (_, reply) =>
        reply.type('text/html; charset=utf-8').send(page),
      );
    const files = await loadStaticFiles(this.statics.path);
    for (const [path, { bytes, type, cacheControl }] of files)
      app.get(`${BOARD_PATH}${this.statics.route}${path}`, viewer, (_, reply) =>
        reply.type(type).header('cache-control', cacheControl).send(bytes),
      );
    for (const { route, handler } of this.api)
      for (const path of [route].flat())
        app.get(`${BOARD_PATH}${path}`, viewer, async (request, reply) => {
          const { status = 200, body } = await handler({
            queues: this.queues,
            uiConfig: this.uiConfig,
            params: texts.parse(request.params),
            query: texts.parse(request.query),
            body: {},
            headers: {},
          });
          return reply.status(status).send(body);
        });
  }

  /** The board's page with its few values filled in, and without the link to another host. */
  private async page(): Promise<string> {
    if (this.entry === null) throw new Error('the board has no page');
    const { name, params } = this.entry.handler({ basePath: BOARD_PATH, uiConfig: this.uiConfig });
    const template = await readFile(join(this.views, name), 'utf8');
    return template
      .replaceAll(/<link[^>]+https?:[^>]*>/g, '')
      .replaceAll(/<%([=-])\s*(\w+)\s*%>/g, (_, kind: string, field: string) => {
        const value = params[field] ?? '';
        return kind === '-' ? value : value.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
      });
  }
}

/**
 * bull-board on the queues of the configured realms, to look at only: jobs are deliveries, and what is done
 * to an order is done through the ledger.
 */
type QueueBoard = { readonly adapter: BoardAdapter; close(): Promise<void> };

export function openQueueBoard(app: App): QueueBoard {
  const connection = app.store.connect('board');
  const queues = app.config.profiles.flatMap((profile) =>
    [ORDERS_QUEUE, DEAD_QUEUE].map((queue) => ({
      realm: profile.name,
      queue: openQueue<unknown>(app.ledger(profile), queue, connection),
    })),
  );
  const adapter = new BoardAdapter();
  createBullBoard({
    queues: queues.map(
      ({ realm, queue }) =>
        new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false, prefix: `${realm}.` }),
    ),
    serverAdapter: adapter,
    options: {
      uiConfig: {
        boardTitle: 'almoner queues',
        miscLinks: [{ text: 'Back to the desk', url: '/' }],
        hideRedisDetails: true,
      },
    },
  });
  return {
    adapter,
    async close() {
      await Promise.all(queues.map(({ queue }) => queue.close()));
      connection.disconnect();
    },
  };
}
