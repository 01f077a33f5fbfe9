import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../src/desk/http/routes.js';
import { ask, startDesk, type TestDesk } from '../support/program/desk.js';

let desk: TestDesk;

beforeAll(async () => {
  desk = await startDesk();
});
afterAll(() => desk.close());

const filled = (path: string) => path.replaceAll(/:\w+/g, 'something');

describe('closed by default', () => {
  test('without a token only the login, the pages and health answer', async () => {
    for (const { method, path, access } of ROUTES) {
      if (access === 'anyone') continue;
      const reply = await desk.call(filled(path), { method, as: null });
      expect([method, path, reply.status]).toEqual([method, path, 401]);
      expect(reply.json()).toMatchObject({ error: { code: 'ALM_DESK_NOT_SIGNED_IN' } });
    }
    for (const path of [
      '/metrics',
      '/queues',
      '/queues/api/queues',
      '/api',
      '/api/nothing',
      '/queues/static/x',
    ])
      expect([path, (await desk.call(path, { as: null })).status]).toEqual([path, 401]);
    for (const path of ['/health', '/ready', '/', '/login', '/batches/last'])
      expect([path, (await desk.call(path, { as: null })).status]).toEqual([path, 200]);
  });

  test('a HEAD request opens nothing more than GET', async () => {
    for (const path of ['/api/overview', '/api/events', '/metrics', '/queues'])
      expect([path, (await desk.call(path, { method: 'HEAD', as: null })).status]).toEqual([path, 401]);
    for (const path of ['/', '/health'])
      expect([path, (await desk.call(path, { method: 'HEAD', as: null })).status]).toEqual([path, 200]);
  });

  test('a wrong token is refused, as bearer and in the form', async () => {
    const wrong = 'almdesk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    expect((await desk.call('/api/overview', { as: wrong })).status).toBe(401);
    const login = await desk.call('/api/login', { method: 'POST', body: { token: wrong }, as: null });
    expect(login.status).toBe(401);
    expect(login.headers['set-cookie']).toBeUndefined();
    expect(login.text).not.toContain(wrong);
  });

  test('a viewer can change nothing: every changing route refuses', async () => {
    const page = await desk.login(desk.tokens.viewer);
    // What a viewer may ask for by another method than GET; it changes nothing.
    const questions = ['/api/login', '/api/logout', '/api/dead/count', '/api/doubts/count'];
    const changes = ROUTES.filter(({ method, path }) => method !== 'GET' && !questions.includes(path));
    expect(changes.length).toBeGreaterThan(8);
    for (const { method, path } of changes)
      for (const as of [page, desk.tokens.viewer]) {
        const reply = await desk.call(filled(path), { method, as, body: {} });
        expect([path, reply.status]).toEqual([path, 403]);
        expect(reply.json()).toMatchObject({ error: { code: 'ALM_DESK_ROLE' } });
      }
    expect((await desk.call('/api/overview', { as: page })).status).toBe(200);
  });
});

describe('a session', () => {
  test('its cookie is out of reach of scripts and of other sites', async () => {
    const reply = await desk.call('/api/login', {
      method: 'POST',
      body: { token: desk.tokens.operator },
      as: null,
    });
    const cookie = String(reply.headers['set-cookie']);
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).toMatch(/Path=\//);
    expect(reply.headers['cache-control']).toBe('no-store');
  });

  test('a change without the page’s own token is refused', async () => {
    const page = await desk.login(desk.tokens.operator);
    const logout = { method: 'POST', body: {} };
    for (const csrf of ['', 'x', `${page.csrf}x`]) {
      const reply = await desk.call('/api/logout', { ...logout, as: { ...page, csrf } });
      expect(reply.status).toBe(403);
      expect(reply.json()).toMatchObject({ error: { code: 'ALM_DESK_CSRF' } });
    }
    const other = await desk.login(desk.tokens.operator);
    expect((await desk.call('/api/logout', { ...logout, as: { ...page, csrf: other.csrf } })).status).toBe(
      403,
    );
    expect((await desk.call('/api/session', { as: page })).status).toBe(200);
  });

  test('no route changes anything without the page’s own token, whatever its method', async () => {
    const roles = ['operator', 'approver', 'admin'] as const;
    const page = await desk.login(await desk.server.desk.tokens.add('all', roles, 'tester', Date.now()));
    for (const { method, path } of ROUTES.filter(
      (route) => route.method !== 'GET' && route.path !== '/api/login',
    )) {
      const reply = await desk.call(filled(path), { method, as: { ...page, csrf: 'x' }, body: {} });
      expect([method, path, reply.status, reply.json()]).toMatchObject([
        method,
        path,
        403,
        { error: { code: 'ALM_DESK_CSRF' } },
      ]);
    }
  });

  test('ends with the logout', async () => {
    const page = await desk.login(desk.tokens.operator);
    expect((await desk.call('/api/logout', { method: 'POST', body: {}, as: page })).status).toBe(200);
    expect((await desk.call('/api/session', { as: page })).status).toBe(401);
  });

  test('ends when its token is revoked, and so does the token', async () => {
    const token = await desk.server.desk.tokens.add('rita', ['operator'], 'tester', Date.now());
    const page = await desk.login(token);
    expect((await desk.call('/api/session', { as: page })).json()).toMatchObject({
      name: 'rita',
      roles: ['operator'],
    });
    await desk.server.desk.tokens.revoke('rita');
    expect((await desk.call('/api/session', { as: page })).status).toBe(401);
    expect((await desk.call('/api/session', { as: token })).status).toBe(401);
  });

  test('neither token nor cookie can be read in the store', async () => {
    const page = await desk.login(desk.tokens.operator);
    const client = desk.redis.client();
    const keys = await client.keys('almoner:desk:*');
    const values = await Promise.all(
      keys.map(async (key) => {
        const type = await client.type(key);
        if (type === 'hash') return JSON.stringify(await client.hgetall(key));
        if (type === 'set') return JSON.stringify(await client.smembers(key));
        return type === 'list' ? JSON.stringify(await client.lrange(key, 0, -1)) : client.get(key);
      }),
    );
    const all = JSON.stringify([keys, values]);
    expect(keys.length).toBeGreaterThan(2);
    for (const secret of [desk.tokens.operator, desk.tokens.viewer, page.cookie.split('=')[1] ?? ''])
      expect(all.includes(secret)).toBe(false);
  });
});

describe('where a request comes from', () => {
  test('another site’s origin is refused, whoever is signed in', async () => {
    const page = await desk.login(desk.tokens.operator);
    for (const origin of [
      'http://evil.example',
      'null',
      `http://127.0.0.1:${desk.port + 1}`,
      `https://127.0.0.1:${desk.port}`,
    ])
      for (const as of [page, desk.tokens.operator])
        for (const path of ['/api/overview', '/api/logout', '/api/login']) {
          const method = path === '/api/overview' ? 'GET' : 'POST';
          const reply = await desk.call(path, { method, as, headers: { origin } });
          expect([origin, path, reply.status]).toEqual([origin, path, 403]);
        }
    const own = { headers: { origin: desk.url }, as: page };
    expect((await desk.call('/api/overview', own)).status).toBe(200);
  });

  test('a cross-site change is refused also without an Origin header', async () => {
    const page = await desk.login(desk.tokens.operator);
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await desk.call('/api/logout', { method: 'POST', as: page, headers })).status).toBe(403);
  });

  test('a host name that was pointed here (DNS rebinding) is refused, pages included', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${desk.port}`,
      '127.0.0.1',
      `127.0.0.1:${desk.port + 1}`,
    ])
      for (const path of ['/', '/api/overview', '/queues'])
        expect([host, path, (await desk.call(path, { headers: { host } })).status]).toEqual([
          host,
          path,
          403,
        ]);
    expect((await desk.call('/', { headers: { host: `localhost:${desk.port}` } })).status).toBe(200);
    expect((await desk.call('/health', { headers: { host: 'pod-7.internal' } })).status).toBe(200);
  });
});

describe('what a browser is told', () => {
  test('no inline script, no other host, no framing, no sniffing, on every answer', async () => {
    for (const path of ['/', '/api/overview', '/api/nothing', '/assets/index-abcdef12.js', '/health']) {
      const { headers } = await desk.call(path);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
  });

  test('pages come from the build only, whatever the path', async () => {
    for (const path of [
      '/../../etc/passwd',
      '/..%2f..%2fetc%2fpasswd',
      '/assets/..%2f..%2f..%2fpackage.json',
      '/%2e%2e/data/x.csv',
    ])
      expect((await ask(`${desk.url}${path}`, { as: null })).text).not.toMatch(/root:|"name"/);
    const script = await desk.call('/assets/index-abcdef12.js', { as: null });
    expect(script.headers['cache-control']).toContain('immutable');
    expect((await desk.call('/nothing.js', { as: null })).status).toBe(404);
  });
});
