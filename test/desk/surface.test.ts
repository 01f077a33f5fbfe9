import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../src/desk/http/openapi.js';
import { ROUTE_GROUPS, ROUTES } from '../../src/desk/http/routes.js';
import { startDesk, type TestDesk } from '../support/program/desk.js';
import { until } from '../support/until.js';

let desk: TestDesk;

beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

describe('the OpenAPI document', () => {
  const document = z.object({
    openapi: z.string(),
    paths: z.record(z.string(), z.record(z.string(), z.object({ operationId: z.string() }))),
  });

  test('describes exactly the routes that are served', async () => {
    const served = document.parse((await desk.call('/api/openapi.json')).json());
    const described = Object.entries(served.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const table = ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(described.sort()).toEqual([...table].sort());
    // Whatever answers under /api is in the table: what is not is unknown even to an operator.
    for (const path of ['/api', '/api/nothing', '/api/batches/x/nothing'])
      expect((await desk.call(path)).status).toBe(404);
  });

  test('every route of the table answers over HTTP', async () => {
    for (const { method, path } of ROUTES) {
      if (path === '/api/events' || path === '/api/logout') continue;
      const reply = await desk.call(path.replaceAll(/:\w+/g, 'nothing-1'), { method });
      expect([path, reply.status === 404 && reply.text.includes('under this address')]).toEqual([
        path,
        false,
      ]);
      expect([path, reply.status >= 500]).toEqual([path, false]);
    }
  });

  test('names every operation once', () => {
    const made = document.parse(openApiDocument(ROUTE_GROUPS, '1'));
    const ids = Object.values(made.paths).flatMap((operations) =>
      Object.values(operations).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('metrics', () => {
  test('parse as Prometheus text and carry what the issue names', async () => {
    const reply = await desk.call('/metrics');
    expect(reply.headers['content-type']).toContain('text/plain');
    const line =
      /^(#.*|almoner_[a-z_]+(\{[a-z_]+="(?:[^"\\]|\\.)*"(,[a-z_]+="(?:[^"\\]|\\.)*")*\})? -?[0-9.e+-]+)?$/;
    for (const text of reply.text.split('\n')) expect(text).toMatch(line);
    for (const name of [
      'almoner_orders_total',
      'almoner_orders_left_total',
      'almoner_tokens_total',
      'almoner_request_seconds',
      'almoner_pace_used_per_second',
      'almoner_queue_depth',
      'almoner_window_jobs',
      'almoner_oldest_unsettled_seconds',
      'almoner_doubts',
      'almoner_workers',
      'almoner_store_up',
    ])
      expect(reply.text).toContain(`# TYPE ${name} `);
    expect(reply.text).toContain('almoner_store_up 1');
  });

  test('answer whoever asks at the same time', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, () => desk.call('/metrics')));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('the queue board', () => {
  test('shows its page and queues, asks no other host, and cannot change anything', async () => {
    const page = await desk.call('/queues', { as: desk.tokens.viewer });
    expect(page.status).toBe(200);
    expect(page.text).not.toMatch(/https?:\/\//);
    expect(page.text).not.toContain('<%');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("script-src 'self';");
    const script = /src="(static\/js\/main[^"]+)"/.exec(page.text)?.[1];
    expect((await desk.call(`/queues/${script}`)).headers['content-type']).toContain('javascript');
    const queues = await desk.call('/queues/api/queues?activeQueue=&page=1&jobsPerPage=10');
    expect(
      z
        .object({ queues: z.array(z.object({ name: z.string(), readOnlyMode: z.boolean() })) })
        .parse(queues.json()).queues,
    ).toEqual([
      expect.objectContaining({ readOnlyMode: true }),
      expect.objectContaining({ readOnlyMode: true }),
    ]);
    for (const [method, path] of [
      ['PUT', '/queues/api/queues/pause'],
      ['POST', '/queues/api/queues/main.orders/add'],
      ['PUT', '/queues/api/queues/main.orders/obliterate'],
    ] as const)
      expect((await desk.call(path, { method, body: {} })).status).toBe(404);
  });
});

describe('errors', () => {
  test('have a code, a sentence and a next step, and tell nothing of the machine', async () => {
    const error = z.object({
      error: z.object({
        code: z.string(),
        message: z.string(),
        next: z.string(),
        details: z.array(z.string()),
      }),
    });
    for (const [path, options] of [
      ['/api/batches/nothing', {}],
      ['/api/orders/nothing-1', {}],
      ['/api/batches?limit=0', {}],
      ['/api/members/abc/history', {}],
      ['/api/login', { method: 'POST', body: '{', headers: { 'content-type': 'application/json' } }],
      ['/api/login', { method: 'POST', body: { token: 1 } }],
      ['/api/dead/count', { method: 'POST', body: {} }],
      ['/api/tasks/x', {}],
    ] as const) {
      const reply = await desk.call(path, options);
      expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true]);
      error.parse(reply.json());
      expect(reply.text).not.toMatch(/node_modules|\.ts\b|\.js:|at \w+ \(|\/tmp\//);
    }
  });

  test('an address that cannot be decoded, or is too long, is refused like everything else', async () => {
    for (const [method, path] of [
      ['GET', '/api/batches/%zz'],
      ['POST', `/api/batches/${'a'.repeat(400)}/pause`],
    ] as const) {
      const reply = await desk.call(path, { method, as: null });
      expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true]);
      expect(reply.json()).toMatchObject({ error: { code: 'ALM_DESK_BAD_REQUEST' } });
      expect(reply.headers['content-security-policy']).toContain("default-src 'none'");
    }
  });

  test('a store that is frozen or gone is a 503 for machines, soon, and the overview says so', async () => {
    const local = `almdesk_${'l'.repeat(43)}`;
    const own = await startDesk({ options: { localToken: local, times: { lookMs: 300, sharedMs: 0 } } });
    const unreachable = { error: { code: 'ALM_STORE_UNREACHABLE' } };
    try {
      await own.call('/api/overview', { as: local });
      const begun = performance.now();
      process.kill(own.redis.pid, 'SIGSTOP');
      const [health, ready, overview, ...pages] = await Promise.all([
        own.call('/health', { as: null }),
        own.call('/ready', { as: null }),
        own.call('/api/overview', { as: local }),
        own.call('/api/overview'),
        ...['/api/dead', '/api/doubts', '/api/audit', '/api/batches/last/orders'].map((path) =>
          own.call(path, { as: local }),
        ),
      ]).finally(() => process.kill(own.redis.pid, 'SIGCONT'));
      expect(performance.now() - begun).toBeLessThan(8_000);
      expect([health.status, ready.status, ready.json()]).toEqual([200, 503, { ok: false }]);
      expect(overview.json()).toMatchObject({ store: { up: false, latencyMs: null } });
      for (const page of pages) expect([page.status, page.json()]).toMatchObject([503, unreachable]);
      await until(
        'the desk to be ready',
        async () => (await own.call('/ready', { as: null })).status === 200,
      );

      await own.redis.kill();
      expect((await own.call('/health', { as: null })).status).toBe(200);
      expect((await own.call('/ready', { as: null })).status).toBe(503);
      const reply = await own.call('/api/overview');
      expect([reply.status, reply.json()]).toMatchObject([503, unreachable]);
      await own.redis.restart();
    } finally {
      await own.close();
    }
  });
});
