import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { AlmonerError } from '../../core/errors/error.js';
import { storeFacts } from '../../ledger/index.js';
import type { App } from '../../runtime/app.js';

/**
 * What supervisors and Prometheus ask of a worker. It says nothing about money, so that it needs no token: payments, queues and
 * totals of all workers are in the desk's /metrics.
 */
export type WorkerPort = {
  readonly url: string;
  /** The workers of all realms have started. */
  started(): void;
  close(): Promise<void>;
};

export async function openWorkerPort(
  app: Pick<App, 'scripts'>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<WorkerPort> {
  let hasStarted = false;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'almoner_worker_' });
  const isReady = async () => hasStarted && (await storeFacts.ping(app.scripts));

  const answer: RequestListener = async ({ method, url }, reply) => {
    const json = (status: number, body: object) =>
      reply
        .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
        .end(JSON.stringify(body));
    if (method !== 'GET' && method !== 'HEAD') return json(405, { ok: false });
    switch (url?.split('?')[0]) {
      case '/health':
        return json(200, { ok: true });
      case '/ready': {
        const ok = await isReady();
        return json(ok ? 200 : 503, { ok });
      }
      case '/metrics':
        return reply
          .writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE })
          .end(await registry.metrics());
      default:
        return json(404, { ok: false });
    }
  };
  const server = createServer(answer);
  try {
    server.listen(port, host.replace(/^\[|\]$/g, ''));
    await once(server, 'listening');
  } catch (cause) {
    throw new AlmonerError(
      'ALM_SERVICE_PORT_TAKEN',
      `Port ${port} on ${host} cannot be listened on. The worker was not started.`,
      { next: 'Choose another one with --metrics-port, or end the other program.', cause },
    );
  }
  const bound = server.address();
  const realPort = typeof bound === 'object' && bound !== null ? bound.port : port;
  return {
    url: `http://${host}:${realPort}`,
    started() {
      hasStarted = true;
    },
    async close() {
      registry.clear();
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}
