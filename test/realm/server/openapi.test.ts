import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ROUTES } from '../../../src/realm/server/calls.js';
import { bareHttp } from '../../support/bare-http.js';
import { startRealm, type TestRealm } from '../../support/program/realm-service.js';
import { startRedis, type TestRedis } from '../../support/redis-server.js';

const document = z.object({
  openapi: z.literal('3.1.0'),
  paths: z.record(
    z.string(),
    z.record(z.string(), z.object({ operationId: z.string(), responses: z.object({}) })),
  ),
});

let redis: TestRedis;
let realm: TestRealm;
beforeAll(async () => {
  redis = await startRedis();
  realm = await startRealm(redis);
});
afterAll(async () => {
  await realm.close();
  await redis.stop();
});

describe('the OpenAPI document', () => {
  it('is served without a key and names exactly the routes', async () => {
    const reply = await bareHttp(`${realm.url}/api/v4/openapi.json`);
    expect(reply.status).toBe(200);
    const { paths } = document.parse(reply.json);
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`,
      ),
    );
    const served = ROUTES.map((route) => `${route.method} ${route.path} ${route.operationId}`);
    expect(documented.sort()).toEqual(served.sort());
    for (const route of ROUTES) {
      const url = `${realm.url}/api/v4${route.path.replaceAll(/\{\w+\}/g, '1')}`;
      expect((await bareHttp(url, { method: route.method })).status).toBe(401);
    }
  });
});
