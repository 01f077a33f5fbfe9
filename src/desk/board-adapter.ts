import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type {
  AppControllerRoute,
  AppViewRoute,
  BullBoardQueues,
  IServerAdapter,
  UIConfig,
} from '@bull-board/api/typings/app';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { loadStaticFiles } from './static-files.js';

/**
 * Puts bull-board's pages and its reading routes under one path. Not @bull-board/fastify: that one registers
 * every route, those that change queues included, serves a page that asks another host for its fonts, and is
 * pinned to another version of the board than its pages. Here what changes something does not exist.
 */
export const BOARD_PATH = '/queues';

const texts = z.record(z.string(), z.string()).catch({});

export class BoardAdapter implements IServerAdapter {
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
