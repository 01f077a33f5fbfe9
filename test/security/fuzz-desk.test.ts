import { createHash } from 'node:crypto';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Route } from '../../src/desk/http/route.js';
import { ROUTES } from '../../src/desk/http/routes.js';
import { brokenHttp } from '../support/broken-http.js';
import { hostileJson, hostileText, hostileValue } from '../support/hostile.js';
import { ask, type Reply, startDesk, type TestDesk } from '../support/program/desk.js';
import { generated } from '../support/suites.js';
import { until } from '../support/until.js';

/**
 * The whole API of a desk with a batch, an upload and rules on it, asked by somebody who means harm and holds
 * an operator's token: every request is answered, none with a 500, none with anything of the machine in it,
 * and what is refused has changed nothing.
 */
let desk: TestDesk;
let store: Redis;
let known: string[] = [];

beforeAll(async () => {
  desk = await startDesk({
    options: { uploadLimits: { bytesMax: 200_000, filesMax: 4, idleMs: 2_000, bytesPerSecondMin: 1 } },
  });
  store = desk.redis.client();
  await mkdir(join(desk.folder, 'jobs'), { recursive: true });
  for (const name of ['penalty.yaml', 'penalty.csv'])
    await cp(join('jobs', name), join(desk.folder, 'jobs', name));
  const started = z.object({ summary: z.object({ batch: z.string() }) });
  const first = await upload('member,tokens,reference\n100,5,r1\n101,6,r2\n');
  const reply = await desk.call(`/api/uploads/${first}/start`, {
    method: 'POST',
    body: { rows: 2, tokens: '11' },
  });
  const { batch } = started.parse(reply.json()).summary;
  known = [
    batch,
    batch.slice(0, 4),
    `${batch}-1`,
    `${batch}-999999`,
    await upload('member,tokens\n1,5\nx,y\n'),
    'missed-days',
    'report.html',
    '100',
  ];
});
afterAll(() => desk.close());

async function upload(csv: string): Promise<string> {
  const reply = await desk.call('/api/uploads?name=a.csv', { method: 'POST', body: csv });
  return z.object({ upload: z.string() }).parse(reply.json()).upload;
}

/** A hash of each key of the store but the audit, which also tells of what was asked in vain, and sessions. */
async function fingerprints(): Promise<Map<string, string>> {
  // What an earlier request has begun goes on in the background.
  await desk.server.desk.tasks.settled();
  const keys = (await store.keys('almoner:*'))
    .filter((key) => !/^almoner:desk:(audit|session)|:pace/.test(key))
    .sort();
  const dumps = await Promise.all(keys.map((key) => store.dumpBuffer(key)));
  const hashOf = (dump: Buffer | undefined) =>
    createHash('sha256')
      .update(dump ?? '')
      .digest('hex');
  return new Map(keys.map((key, i) => [key, hashOf(dumps[i])]));
}

async function fingerprintsAtRest(): Promise<Map<string, string>> {
  let last: Map<string, string> | undefined;
  const isAtRest = async () => {
    const now = await fingerprints();
    const isSame = last !== undefined && changedKeys(last, now).length === 0;
    last = now;
    return isSame && now;
  };
  return until('two equal looks at the desk', isAtRest, 30_000, LOOK_EVERY_MS);
}
const LOOK_EVERY_MS = 200;

function changedKeys(before: Map<string, string>, now: Map<string, string>): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].filter((key) => before.get(key) !== now.get(key));
}

type Attack = {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Record<string, string>;
};

/** Escaped, or raw where a URL can carry it: a server must bear both. */
const inPath = fc.tuple(
  fc.oneof({ arbitrary: fc.nat(), weight: 1 }, { arbitrary: hostileText, weight: 1 }),
  fc.boolean(),
);
const segment = inPath.map(([given, escaped]) => {
  const text = typeof given === 'number' ? (known[given % known.length] ?? 'x') : given;
  const safe = wellFormed(text);
  return escaped ? encodeURIComponent(safe) : encodeURI(safe).replaceAll(/[?#]/g, encodeURIComponent);
});

/** A lone surrogate has no UTF-8 form, so it cannot stand in a URL. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function fieldsOf(schema: z.ZodType | undefined): string[] {
  if (schema === undefined) return [];
  const described = z
    .object({ properties: z.record(z.string(), z.unknown()) })
    .safeParse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
  return described.success ? Object.keys(described.data.properties) : [];
}

const strangeNames = ['__proto__', 'constructor', 'x[]', 'a.b'];
const plausible = fc.constantFrom<unknown>(
  'paid',
  'unpaid',
  'a reason',
  1,
  2,
  '11',
  true,
  'refused',
  ['x-1'],
  'rehearsal',
);

function bodies(route: Route): fc.Arbitrary<unknown> {
  const names = [...fieldsOf(route.body), ...strangeNames];
  const tree = fc.dictionary(fc.constantFrom(...names), fc.oneof(hostileValue, plausible), { maxKeys: 8 });
  const whole = fc.constant(Object.fromEntries(fieldsOf(route.body).map((name) => [name, name])));
  return fc.oneof(tree, whole, hostileJson, fc.constant(undefined));
}

function queries(route: Route): fc.Arbitrary<string> {
  const names = [...fieldsOf(route.query), ...strangeNames];
  return fc
    .array(fc.tuple(fc.constantFrom(...names), fc.oneof(hostileText, plausible.map(String))), {
      maxLength: 5,
    })
    .map((pairs) =>
      pairs
        .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`)
        .join('&'),
    );
}

const headers = fc.dictionary(
  fc.constantFrom(
    'content-type',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-http-method-override',
    'cookie',
    'x-almoner-csrf',
    'if-none-match',
    'range',
    'accept-encoding',
    'expect',
    'te',
    'x-request-id',
  ),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'application/json; charset=utf-7',
      'text/csv',
      'multipart/form-data',
      'application/xml',
      'DELETE',
      '127.0.0.1',
      'bytes=0-99999999999',
    ),
    fc.stringMatching(/^[\x20-\x7e]{0,60}$/),
  ),
  { maxKeys: 3 },
);

/** The live line never ends by itself, and has tests of its own. */
const ASKED = ROUTES.filter(({ path }) => path !== '/api/events');

const attack: fc.Arbitrary<Attack> = fc.constantFrom(...ASKED).chain((route) =>
  fc.record({
    method: fc.constant(route.method),
    path: fc
      .tuple(fc.array(segment, { minLength: 3, maxLength: 3 }), queries(route))
      .map(([segments, query]) => {
        let at = 0;
        const filled = route.path.replaceAll(/:\w+/g, () => segments[at++] ?? 'x');
        return query === '' ? filled : `${filled}?${query}`;
      }),
    body: route.method === 'GET' ? fc.constant(undefined) : bodies(route),
    headers,
  }),
);

function tellsNothing(reply: Reply): void {
  expect(reply.text).not.toMatch(
    /node_modules|\bat \w+[^\n]*\(\/|\.[jt]s:\d+|root:x:0|ReplyError|ERR_[A-Z_]+/,
  );
  expect(reply.text).not.toContain(desk.folder);
  expect('polluted' in {}).toBe(false);
}

describe('the API under fire', () => {
  test('every request is answered, never with a 500 or a word of the machine; what is refused changed nothing', async () => {
    let before = await fingerprints();
    let isAccepted = false;
    await fc.assert(
      fc.asyncProperty(attack, async ({ method, path, body, headers: more }) => {
        // A request that was accepted may have a late effect: the next one goes to a desk at rest.
        if (isAccepted) before = await fingerprintsAtRest();
        const reply = await desk.call(path, {
          method,
          ...(body === undefined ? {} : { body }),
          headers: { ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}), ...more },
        });
        expect([path, reply.status < 500]).toEqual([path, true]);
        tellsNothing(reply);
        isAccepted = reply.status < 400;
        const last = before;
        before = await fingerprints();
        if (!isAccepted) expect([path, changedKeys(last, before)]).toEqual([path, []]);
      }),
      generated(40, 250),
    );
    expect((await desk.call('/api/overview')).status).toBe(200);
  });

  test('other methods and other addresses are refused in the same way', async () => {
    const anywhere = fc.oneof(
      segment.map((one) => `/${one}`),
      segment.map((one) => `/assets/${one}`),
      segment.map((one) => `/api/${one}`),
      segment.map((one) => `/queues/${one}`),
      segment.map((one) => `/queues/api/queues/${one}`),
    );
    await fc.assert(
      fc.asyncProperty(
        anywhere,
        fc.constantFrom('GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE', 'OPTIONS', 'TRACE'),
        async (path, method) => {
          const reply = await desk.call(path, { method });
          expect([path, reply.status < 500]).toEqual([path, true]);
          tellsNothing(reply);
        },
      ),
      generated(20, 150),
    );
  });

  test('the door: any body and any token gets no session', async () => {
    const own = await startDesk();
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(hostileJson, fc.record({ token: hostileValue })),
          hostileText,
          async (body, token) => {
            const login = await ask(`${own.url}/api/login`, {
              method: 'POST',
              body,
              headers: { 'content-type': 'application/json' },
            });
            expect([400, 401, 413, 415, 429]).toContain(login.status);
            expect(login.headers['set-cookie']).toBeUndefined();
            const value = token.replaceAll(/[^\x20-\x7e]/g, '');
            const looked = await ask(`${own.url}/api/overview`, {
              headers: { authorization: `Bearer ${value}`, cookie: value },
            });
            expect([401, 429]).toContain(looked.status);
          },
        ),
        generated(10, 60),
      );
    } finally {
      await own.close();
    }
  });

  test('broken HTTP never ends the desk', async () => {
    await brokenHttp(desk.port, generated(10, 60));
    expect((await desk.call('/health', { as: null })).status).toBe(200);
  });
});
