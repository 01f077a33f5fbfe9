import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { AlmonerError } from '../../core/errors/error.js';
import { BOARD_PATH } from './access/door.js';

/**
 * The built pages, read into memory once. A request can only name an entry of the table, so that no path leads
 * outside. Browsers keep files with a content hash for ever and ask for the page itself anew.
 */
type StaticFile = {
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
  readonly cacheControl: string;
};

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const HASHED = /[.-][\w-]{8,}\.\w+$/;

/** Reads the built pages once. A later change of the folder is not served. */
export async function loadStaticFiles(folder: string): Promise<ReadonlyMap<string, StaticFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = new Map<string, StaticFile>();
  for (const entry of entries) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = await readFile(path);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, {
      bytes,
      type,
      etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
      cacheControl:
        HASHED.test(entry.name) && entry.name !== 'index.html'
          ? 'public, max-age=31536000, immutable'
          : 'no-cache',
    });
  }
  return files;
}

/** Unknown addresses under these roots are errors and no pages. Only a signed-in person gets that answer. */
const NO_PAGES = ['/api', '/metrics', BOARD_PATH];

/**
 * Serves the page for every address without a route; the page has a router of its own. Strangers may load it, since
 * pages hold no data.
 */
export async function servePages(app: FastifyInstance, folder: string): Promise<void> {
  const nothing = () => {
    throw new AlmonerError('ALM_DESK_NOT_FOUND', 'There is nothing under this address.');
  };
  app.setNotFoundHandler(nothing);
  for (const url of NO_PAGES.flatMap((root) => [root, `${root}/*`]))
    for (const method of ['GET', 'HEAD'] as const)
      if (!app.hasRoute({ method, url }))
        app.route({ method, url, config: { access: 'viewer' }, handler: nothing });
  const files = await loadStaticFiles(folder);
  app.route<{ Params: { '*': string } }>({
    method: ['GET', 'HEAD'],
    url: '/*',
    config: { access: 'anyone' },
    handler(request, reply) {
      if (files.size === 0)
        throw new AlmonerError('ALM_DESK_NO_PAGES', 'The pages of the desk were not built. Its API works.');
      const path = `/${request.params['*']}`;
      // A batch id may contain a dot. Only an address that ends like one of the desk's own files counts as a missing
      // file.
      const isFile = files.has(path) || Object.hasOwn(TYPES, extname(path));
      const file = files.get(isFile ? path : '/index.html');
      if (file === undefined) return nothing();
      reply.headers({ etag: file.etag, 'cache-control': file.cacheControl });
      if (request.headers['if-none-match'] === file.etag) return reply.status(304).send();
      return reply.type(file.type).send(Readable.from([file.bytes]));
    },
  });
}
