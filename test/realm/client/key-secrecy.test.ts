import { afterEach, describe, expect, it } from 'vitest';
import { memberId } from '../../../src/core/ids.js';
import { createRealmClient, type RealmClient } from '../../../src/realm/client/client.js';
import { testProfile } from '../../support/ledger/realm-profile.js';
import { respond, type SocketServer, startSocketServer } from '../../support/socket-server.js';

/** A server that echoes the key in every place and spelling it can. */

const KEY = 'sk/live+"42 %&=ABCDEFGH';
const spellings = [
  KEY,
  encodeURIComponent(KEY),
  encodeURIComponent(KEY).toLowerCase(),
  JSON.stringify(KEY).slice(1, -1),
];
const change = {
  member: memberId('7'),
  tokens: 1,
  currency: null,
  idempotencyKey: 'x',
  mayLeave: () => true,
};
let server: SocketServer;
let client: RealmClient;

async function setUp(status: number, body: string): Promise<void> {
  server = await startSocketServer((socket) =>
    respond(socket, status, body, {
      'x-request-id': `id ${KEY}`,
      location: `/x?key=${encodeURIComponent(KEY)}`,
    }),
  );
  client = createRealmClient({
    profile: testProfile({ attempts: { max: 1, backoffMs: 1, backoffMaxMs: 1 } }),
    baseUrl: `http://127.0.0.1:${server.port}`,
    readKey: () => KEY,
  });
}
afterEach(async () => {
  await client.close();
  await server.stop();
});

function expectNoKey(value: unknown): void {
  const seen = new Set<unknown>();
  const texts: string[] = [];
  const walk = (item: unknown) => {
    if (typeof item === 'string') texts.push(item);
    if (typeof item !== 'object' || item === null || seen.has(item)) return;
    seen.add(item);
    for (const name of Object.getOwnPropertyNames(item)) {
      texts.push(name);
      walk(Reflect.get(item, name));
    }
  };
  walk(value);
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts)
    for (const spelling of [...spellings, 'ABCDEFGH']) expect(text).not.toContain(spelling);
}

describe('the key', () => {
  const echo = JSON.stringify({
    message: `bad key ${KEY}`,
    url: `/?k=${encodeURIComponent(KEY)}`,
    [KEY]: [KEY],
  });

  for (const status of [200, 302, 400, 401, 403, 422, 500]) {
    it(`is in no outcome, error or record when the realm echoes it with a ${status}`, async () => {
      await setUp(status, echo);
      const outcome = await client.changeBalance(change);
      expectNoKey(outcome);
      expect(outcome.body).toContain('[key]');
      expectNoKey(await client.readMember(change.member));
    });
  }

  it('is masked before the excerpt is cut, so that no half of it is left', async () => {
    await setUp(500, `${'x'.repeat(490)}${KEY}`);
    const outcome = await client.changeBalance(change);
    expect(outcome.body).toBe(`${'x'.repeat(490)}[key]`);
  });

  it('is in no failure of the connection', async () => {
    await setUp(200, '{}');
    await server.stop();
    expectNoKey(await client.changeBalance(change));
    expectNoKey(await client.readMember(change.member));
  });
});
