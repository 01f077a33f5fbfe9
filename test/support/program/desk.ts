import { mkdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { parse } from 'yaml';
import { z } from 'zod';
import { deskAddress } from '../../../src/desk/http/access/address.js';
import { createDesk, type DeskServer, type ServerOptions } from '../../../src/desk/http/server.js';
import { Tokens } from '../../../src/operations/people/tokens.js';
import type { App } from '../../../src/runtime/app.js';
import type { TestRedis } from '../redis-server.js';
import { checkReply } from './desk-replies.js';
import { Program } from './program.js';

/** The real desk on a real store, over HTTP, with one token for each role. */
export type TestDesk = {
  readonly url: string;
  readonly port: number;
  readonly app: App;
  readonly redis: TestRedis;
  readonly server: DeskServer;
  readonly tokens: { readonly operator: string; readonly viewer: string };
  readonly folder: string;
  /** Calls a path, by default with the operator's bearer token. */
  call(path: string, options?: CallOptions): Promise<Reply>;
  login(token: string): Promise<Page>;
  /** Starts a worker in this process, which runs until the desk is closed. */
  startWorker(): Promise<void>;
  close(): Promise<void>;
};

/** The session of a signed-in page: its cookie and its CSRF token. */
type Page = { readonly cookie: string; readonly csrf: string };

export type CallOptions = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: no token. */
  readonly as?: string | Page | null;
};

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  json(): unknown;
};

/** Short intervals, so that pages and alerts see changes at once. */
const TIMES = { tickMs: 50, sharedMs: 50, slowMs: 50, noticesMs: 50 };

type DeskOptions = {
  readonly options?: Partial<ServerOptions>;
  readonly logger?: Logger;
};

/** A desk on its own store; without `env` or `config` it rehearses on the embedded realm. */
export async function startDesk(
  given: DeskOptions & {
    readonly env?: NodeJS.ProcessEnv;
    /** The text of a configuration file. */
    readonly config?: string;
  } = {},
): Promise<TestDesk> {
  const { env, config, ...rest } = given;
  const program = await Program.start({
    realm: 'embedded',
    env: { ALMONER_OPERATOR: 'tester', ...env },
    ...(config === undefined ? {} : { config: readConfig(config) }),
  });
  const desk = await openDesk(program, rest);
  return {
    ...desk,
    async close() {
      await desk.close();
      await program.end();
    },
  };
}

/** The desk inside this process, beside the other parts of the program. */
export async function openDesk(program: Program, given: DeskOptions = {}): Promise<TestDesk> {
  const { folder } = program;
  const web = join(folder, 'web');
  await mkdir(join(web, 'assets'), { recursive: true });
  await writeFile(join(web, 'index.html'), '<!doctype html><title>desk</title>');
  await writeFile(join(web, 'assets', 'index-abcdef12.js'), 'void 0');
  const app = await program.app({ logger: given.logger, clientName: 'desk', patienceMs: 5_000 });
  const tokens = new Tokens(app.scripts);
  const operator = await tokens.add('olga', ['operator'], 'tester', Date.now());
  const viewer = await tokens.add('vera', ['viewer'], 'tester', Date.now());
  const stop = new AbortController();
  const server = await createDesk(app, {
    version: '0.0.0-test',
    webFolder: web,
    cwd: folder,
    stop: stop.signal,
    address: deskAddress({ host: '127.0.0.1', publicUrl: undefined, insecureHttp: false }),
    localToken: null,
    ...given.options,
    times: { ...TIMES, ...given.options?.times },
  });
  const { url, port } = await server.listen(0);
  const call: TestDesk['call'] = (path, options = {}) => ask(`${url}${path}`, { as: operator, ...options });
  return {
    url,
    port,
    app,
    redis: program.store,
    server,
    tokens: { operator, viewer },
    folder,
    call,
    login: async (token) => pageOf(await call('/api/login', { method: 'POST', body: { token }, as: null })),
    async startWorker() {
      await program.worker(given.logger && { logger: given.logger });
    },
    async close() {
      stop.abort();
      await server.close();
    },
  };
}

const readConfig = (text: string) => z.record(z.string(), z.unknown()).parse(parse(text));

function pageOf(reply: Reply): Page {
  const [line = ''] = [reply.headers['set-cookie'] ?? ''].flat();
  const body = reply.json();
  const csrf = typeof body === 'object' && body !== null && 'csrf' in body ? String(body.csrf) : '';
  return { cookie: line.split(';')[0] ?? '', csrf };
}

/** Sends a raw request: headers are sent as passed, even a forged Host. */
export function ask(url: string, options: CallOptions = {}): Promise<Reply> {
  const { method = 'GET', body, as = null } = options;
  const headers: Record<string, string> = {};
  if (typeof as === 'string') headers.authorization = `Bearer ${as}`;
  else if (as !== null) {
    headers.cookie = as.cookie;
    headers['x-almoner-csrf'] = as.csrf;
  }
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  if (text !== undefined) {
    headers['content-type'] = typeof body === 'string' ? 'text/csv' : 'application/json';
    headers['content-length'] = String(Buffer.byteLength(text));
  }
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, headers: { ...headers, ...options.headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const received = Buffer.concat(chunks).toString('utf8');
          const { statusCode: status = 0 } = response;
          try {
            checkReply({ method, url, status, text: received });
          } catch (error) {
            reject(error);
          }
          resolve({
            status,
            headers: response.headers,
            text: received,
            json: () => JSON.parse(received),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(text);
  });
}
