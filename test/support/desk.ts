import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { deskAddress } from '../../src/desk/http/access/address.js';
import { createDesk, type DeskServer, type ServerOptions } from '../../src/desk/http/server.js';
import { Tokens } from '../../src/operations/people/tokens.js';
import { App } from '../../src/runtime/app.js';
import { loadConfig } from '../../src/runtime/config/config.js';
import { checkReply } from './desk-replies.js';
import { startRedis, type TestRedis } from './redis-server.js';
import { startWorkerBeside, type WorkerBeside } from './worker-beside.js';

/** The real desk on a real store, over HTTP, with one token of each role. */
export type TestDesk = {
  readonly url: string;
  readonly port: number;
  readonly app: App;
  readonly redis: TestRedis;
  readonly server: DeskServer;
  readonly tokens: { readonly operator: string; readonly viewer: string };
  readonly folder: string;
  /** With the operator's bearer token unless told otherwise. */
  call(path: string, options?: CallOptions): Promise<Reply>;
  login(token: string): Promise<Page>;
  /** A worker in this process, until the desk is closed. */
  startWorker(): Promise<void>;
  close(): Promise<void>;
};

/** A signed-in page: its cookie and its CSRF token. */
type Page = { readonly cookie: string; readonly csrf: string };

export type CallOptions = {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: nobody. */
  readonly as?: string | Page | null;
};

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  json(): unknown;
};

export async function startDesk(
  given: {
    readonly env?: NodeJS.ProcessEnv;
    readonly options?: Partial<ServerOptions>;
    readonly logger?: Logger;
    /** The text of a configuration file. */
    readonly config?: string;
  } = {},
): Promise<TestDesk> {
  const redis = await startRedis();
  const folder = await mkdtemp(join(tmpdir(), 'almoner-desk-'));
  const web = join(folder, 'web');
  await mkdir(join(web, 'assets'), { recursive: true });
  await writeFile(join(web, 'index.html'), '<!doctype html><title>desk</title>');
  await writeFile(join(web, 'assets', 'index-abcdef12.js'), 'void 0');
  const env = {
    REDIS_URL: redis.url,
    ALMONER_DATA: join(folder, 'data'),
    ALMONER_REPORTS: join(folder, 'reports'),
    ALMONER_JOBS: join(folder, 'jobs'),
    ALMONER_OPERATOR: 'tester',
    ...given.env,
  };
  if (given.config !== undefined) await writeFile(join(folder, 'almoner.config.yaml'), given.config);
  const config = await loadConfig({ env, cwd: folder, flags: {} });
  const { logger = pino({ level: 'silent' }) } = given;
  const app = await App.open({ config, logger, env, clientName: 'desk', patienceMs: 5_000 });
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
  });
  const { url, port } = await server.listen(0);
  let worker: WorkerBeside | undefined;
  const call: TestDesk['call'] = (path, options = {}) => ask(`${url}${path}`, { as: operator, ...options });
  return {
    url,
    port,
    app,
    redis,
    server,
    tokens: { operator, viewer },
    folder,
    call,
    async login(token) {
      const reply = await call('/api/login', { method: 'POST', body: { token }, as: null });
      return pageOf(reply);
    },
    async startWorker() {
      worker = await startWorkerBeside({ env, cwd: folder, logger });
    },
    async close() {
      stop.abort();
      await worker?.stop();
      await server.close();
      await app.close();
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function pageOf(reply: Reply): Page {
  const [line = ''] = [reply.headers['set-cookie'] ?? ''].flat();
  const body = reply.json();
  const csrf = typeof body === 'object' && body !== null && 'csrf' in body ? String(body.csrf) : '';
  return { cookie: line.split(';')[0] ?? '', csrf };
}

/** Nothing between the test and the socket: headers as given, a forged Host included. */
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
