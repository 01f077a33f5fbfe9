import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';

/**
 * The built pages, read into memory once: a request can only name what is in the table, so there is no path
 * to escape from. Names with a content hash are kept by browsers for ever, the page itself is asked for anew.
 */
export type StaticFile = {
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

/** The file of a path; any other path of the desk is a page, which the page's own router knows. */
export function fileFor(files: ReadonlyMap<string, StaticFile>, path: string): StaticFile | undefined {
  // A batch id may hold a dot, so only what ends like one of our own files is missing rather than a page.
  return files.get(path) ?? (Object.hasOwn(TYPES, extname(path)) ? undefined : files.get('/index.html'));
}
