import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { REALM_HALTED } from '../../src/core/classify.js';
import type { RealmProfile } from '../../src/core/profile.js';
import { readBatch } from '../../src/ledger/batches.js';
import { findSpent } from '../../src/ledger/plan-store.js';
import { readDetails, readRecord } from '../../src/ledger/rows.js';
import { closeBreaker, pauseBatch, realmState } from '../../src/ledger/steering.js';
import { BalanceWatch } from '../../src/queue/balance-watch.js';
import { Breaker } from '../../src/queue/breaker.js';
import { Evidence } from '../../src/queue/evidence.js';
import { Pace } from '../../src/queue/pace.js';
import { Readback } from '../../src/queue/readback.js';
import { TwoClocks } from '../../src/queue/two-clocks.js';
import { Unread } from '../../src/queue/unread.js';
import { createRealmClient } from '../../src/realm/client/client.js';
import { type Line, ledgerBench, sealed } from '../support/ledger.js';
import { audit, begun, claimFor, feedAll, held, settleAs, WHY } from '../support/order-moves.js';
import { testProfile } from '../support/realm-profile.js';
import { freePort } from '../support/redis-server.js';
import { tieUp } from '../support/tie-up.js';

/** Members that cannot be read: before an order is sent, and once it is unknown. */
const TERMS = { certainty: 'readback', currency: null, keyLifetimeMs: 1e9 } as const;
const bench = ledgerBench();
const MAX = 3;

type Answer = (response: ServerResponse, member: string) => void;
const status =
  (code: number, body = '{"error":"x"}', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);
const balance = status(200, '{"tokenBalance":100}');
let answer: Answer = balance;
let asked = 0;
const server = createServer((request, response) => {
  asked += 1;
  answer(response, /members\/(\d+)/.exec(request.url ?? '')?.[1] ?? '');
});
let url = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
});
afterAll(() => server.close());
beforeEach(() => {
  answer = balance;
  asked = 0;
});

async function world(lines: readonly Line[], changes: Partial<RealmProfile> = {}, baseUrl = url) {
  const books = await bench.books();
  const batch = await sealed(books, lines);
  await feedAll(batch);
  const timeouts = { connectMs: 1_000, tlsMs: 1_000, responseMs: 200, totalMs: 1_000 };
  const attempts = { max: MAX, backoffMs: 1, backoffMaxMs: 2 };
  const profile = testProfile({ certainty: 'readback', timeouts, attempts, ...changes });
  const client = createRealmClient({ profile, baseUrl, readKey: () => 'k-secret', userAgent: 'test' });
  const pace = new Pace(books, profile);
  const evidence = new Evidence(books, client, pace, profile);
  const batchOf = () => Promise.resolve(batch.ref);
  const dead: string[] = [];
  const unread = new Unread(
    profile,
    batchOf,
    () => Promise.resolve({ createdAt: Date.now(), sliceMs: 1_000 }),
    (_, row, code, why) => dead.push(`${row.line} ${code} ${why.code}`),
  );
  const clocks = new TwoClocks(() => Promise.resolve(0));
  const watch = new BalanceWatch(books, () => {});
  const readback = new Readback(profile, evidence, batchOf, clocks, watch, unread);

  /** As a worker delivers it, up to the moment in which it would be sent. */
  const deliver = async (index: number) => {
    for (;;) {
      const claimed = await claimFor(batch, index);
      if (claimed.answer === 'wait') continue;
      if (claimed.answer !== 'go') return claimed.answer === 'stop' ? claimed.why : claimed.answer;
      const before = await readback.before(batch.row(index).order, null);
      if (!('kind' in before)) return 'read';
      await unread.beforeSending({ no: batch.no, index }, batch.row(index), claimed.hold, before);
      return before.kind;
    }
  };
  /** Sent, and its answer lost. */
  const lose = async (index: number) => {
    const hold = await held(batch, index);
    const before = await readback.before(batch.row(index).order, null);
    if ('kind' in before) throw new Error(before.message);
    const { expected: _, ...kept } = before;
    await settleAs(batch, index, 'u', await begun(batch, index, { hold, before: kept }));
  };
  const look = (index: number) => readback.resolve({ no: batch.no, index }, batch.row(index), TERMS);
  const record = (index: number) => readRecord(batch.ref, index);
  const unknowns = async () => Number((await books.caller.redis.hget(books.realm, 'unknowns')) ?? 0);
  return { books, batch, profile, client, pace, deliver, lose, look, record, unknowns, dead };
}

describe('before an order is sent', () => {
  test('a member that the realm does not know refuses it: reference free, member handed on, nothing to tie', async () => {
    const { books, batch, deliver, record, dead } = await world([
      { member: '1', reference: 'a' },
      { member: '1' },
      { member: '3' },
    ]);
    answer = status(404);
    expect((await claimFor(batch, 1)).answer).toBe('go');
    expect(await deliver(2)).toBe('held');
    expect(await deliver(1)).toBe('refused');
    expect(await record(1)).toMatchObject({ code: 'R', attempts: 0, status: 404, evidence: 'readback' });
    expect(dead).toEqual(['2 R ALM_REFUSED_NOT_FOUND']);
    expect((await findSpent(books, ['a'])).size).toBe(0);
    expect(await readDetails(batch.ref, 1)).toMatchObject([{ code: 'ALM_REFUSED_NOT_FOUND' }]);
    answer = balance;
    expect(await deliver(2)).toBe('read');
    expect(await tieUp(books)).toEqual([]);
  });

  test('of a transfer, the recipient refuses it as well', async () => {
    const { deliver, record } = await world([{ member: '1', to: '2' }, {}]);
    answer = (response, member) => (member === '2' ? status(404) : balance)(response, member);
    expect(await deliver(1)).toBe('refused');
    expect((await record(1)).code).toBe('R');
  });

  test('refusals in a row halt the batch before it is burnt, as those of writes do', async () => {
    const { batch, deliver } = await world(Array.from({ length: 8 }, () => ({})));
    answer = status(404);
    for (let index = 1; index <= 5; index++) expect(await deliver(index)).toBe('refused');
    expect(await deliver(6)).toBe('halted');
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'halted',
      reason: { code: 'ALM_BATCH_REFUSALS' },
      counts: { refused: 5, planned: 3 },
    });
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test.each([...REALM_HALTED])(
    '%i halts the realm with %s; the order stays planned',
    async (code, reason) => {
      const { books, deliver, record } = await world([{}]);
      answer = status(code);
      expect(await deliver(1)).toBe('halted');
      expect((await realmState(books)).halt?.code).toBe(reason);
      expect(await record(1)).toMatchObject({ code: 'p', tries: 0 });
      expect(await deliver(1)).toBe('halted');
      expect(asked).toBe(1);
      expect(await tieUp(books)).toEqual([]);
    },
  );

  test('what the profile says of a status counts for reads, too', async () => {
    const { deliver, record, books } = await world([{}, {}], {
      statusOverrides: { 403: 'refused', 404: 'realm-halted' },
    });
    answer = status(403);
    expect(await deliver(1)).toBe('refused');
    expect((await record(1)).code).toBe('R');
    answer = status(404);
    expect(await deliver(2)).toBe('halted');
    expect((await realmState(books)).halt?.code).toBe('ALM_SEND_HALTED');
  });

  test.each([
    ['a server error', status(500), 'ALM_SEND_UNREAD'],
    ['a refusal that names no member', status(422), 'ALM_SEND_UNREAD'],
    ['a web page', status(200, '<html>'), 'ALM_SEND_UNREAD'],
    ['an answer cut off', ((response) => response.destroy()) as Answer, 'ALM_SEND_UNREAD'],
    ['no answer in time', (() => {}) as Answer, 'ALM_SEND_UNREAD'],
    ['no balance in the record', status(200, '{"id":1}'), 'ALM_SEND_NO_BALANCE'],
  ] as const)('%s has limited tries, then it is exhausted', async (_, broken, errorClass) => {
    const { books, batch, deliver, record, dead } = await world([{ reference: 'a' }, {}]);
    answer = broken;
    for (let tries = 1; tries < MAX; tries++) {
      expect(await deliver(1)).toBe('unread');
      expect(await record(1)).toMatchObject({ code: 'w', tries });
      expect(await tieUp(books)).toEqual([]);
    }
    // Another order was answered meanwhile: it is not the realm.
    await books.caller.redis.hdel(books.realm, 'unknowns');
    expect(await deliver(1)).toBe('unread');
    expect(await record(1)).toMatchObject({ code: 'X', tries: MAX, attempts: 0 });
    expect((await readDetails(batch.ref, 1)).at(-1)).toMatchObject({ code: errorClass, state: 'exhausted' });
    expect(dead).toEqual([`2 X ${errorClass}`]);
    expect((await findSpent(books, ['a'])).size).toBe(0);
    expect(await tieUp(books)).toEqual([]);
  });

  test('while nothing at all is heard of the realm, the breaker opens before an order is exhausted', async () => {
    const { books, batch, client, pace, deliver, record } = await world([{}, {}]);
    answer = status(503);
    for (let tries = 1; tries <= MAX; tries++) expect(await deliver(1)).toBe('unread');
    expect(await record(1)).toMatchObject({ code: 'w', tries: MAX });
    expect((await realmState(books)).breakerSince).not.toBeNull();
    expect(await deliver(1)).toBe('breaker');
    expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 2 });
    // The realm is back, and only this member is broken.
    answer = (response, member) => (member === '9001' ? status(503) : balance)(response, member);
    await new Breaker(books, client, pace, 1, 900_000).tick();
    expect((await realmState(books)).breakerSince).toBeNull();
    expect(await deliver(1)).toBe('unread');
    expect((await record(1)).code).toBe('X');
    expect(await deliver(2)).toBe('read');
    expect(await tieUp(books)).toEqual([]);
  });

  test('a realm that cannot be reached counts for the breaker and never against the order', async () => {
    const port = await freePort();
    const lines = [{}, {}];
    const { books, deliver, record } = await world(lines, {}, `http://127.0.0.1:${port}`);
    for (let looks = 1; looks <= 20; looks++) {
      expect((await realmState(books)).breakerSince).toBeNull();
      expect(await deliver(1)).toBe('unreached');
    }
    expect((await realmState(books)).breakerSince).not.toBeNull();
    expect(await record(1)).toMatchObject({ code: 'p', tries: 0 });
    expect(await tieUp(books)).toEqual([]);
  });

  test('a realm that asks to slow down is waited for: no try, no breaker', async () => {
    const { deliver, record, unknowns } = await world([{}]);
    answer = status(429, '{}', { 'retry-after': '0' });
    for (let looks = 0; looks < 2 * MAX; looks++) expect(await deliver(1)).toBe('slow-down');
    expect(await record(1)).toMatchObject({ code: 'p', tries: 0 });
    expect(await unknowns()).toBe(0);
  });

  test('a batch that was paused while a member was read keeps its order as it was', async () => {
    const { books, batch, record } = await world([{}]);
    const hold = await held(batch, 1);
    const unread = new Unread(
      testProfile({ certainty: 'readback' }),
      () => Promise.resolve(batch.ref),
      () => Promise.resolve({ createdAt: 0, sliceMs: 1_000 }),
      () => {},
    );
    await pauseBatch(books, batch.no, WHY, audit('paused'));
    const why = { message: 'not found', status: 404, retryAfterMs: null } as const;
    const trouble = { ...why, kind: 'refused', code: 'ALM_REFUSED_NOT_FOUND' } as const;
    await unread.beforeSending({ no: batch.no, index: 1 }, batch.row(1), hold, trouble);
    expect((await record(1)).code).toBe('p');
    expect(await tieUp(books)).toEqual([]);
  });
});

describe('once an order is unknown, no read refuses it', () => {
  test.each([
    ['a member that is gone', status(404)],
    ['a refusal', status(400)],
    ['a web page', status(200, '<html>')],
    ['no balance in the record', status(200, '{}')],
    ['a server error', status(500)],
  ] as const)('%s becomes a doubt after limited tries', async (_, broken) => {
    const { books, batch, lose, look, record } = await world([{ reference: 'a' }, {}]);
    await lose(1);
    answer = broken;
    for (let looks = 1; looks < MAX; looks++) {
      await look(1);
      expect((await record(1)).code).toBe('u');
    }
    await books.caller.redis.hdel(books.realm, 'unknowns');
    await look(1);
    expect(await record(1)).toMatchObject({ code: 'D' });
    const said = (await readDetails(batch.ref, 1)).findLast(({ event }) => event === 'concluded');
    expect(said).toMatchObject({ message: expect.stringContaining('could not be read') });
    expect((await findSpent(books, ['a'])).size).toBe(1);
    expect(await tieUp(books)).toEqual([]);
  });

  test('a look that shows the balance begins the count anew', async () => {
    const { books, lose, look, record } = await world([{}]);
    await lose(1);
    for (let looks = 0; looks < 3 * MAX; looks++) {
      answer = looks % MAX === 0 ? balance : status(400);
      await look(1);
    }
    expect((await record(1)).code).toBe('u');
    expect(await tieUp(books)).toEqual([]);
  });

  test.each([...REALM_HALTED.keys()])('%i halts the realm and it stays unknown', async (code) => {
    const { books, lose, look, record } = await world([{}]);
    await lose(1);
    answer = status(code);
    for (let looks = 0; looks < 2 * MAX; looks++) await look(1);
    expect((await realmState(books)).halt).not.toBeNull();
    expect((await record(1)).code).toBe('u');
    expect(await tieUp(books)).toEqual([]);
  });

  test('while nothing at all is heard of the realm it stays unknown, and the breaker opens', async () => {
    const { books, lose, look, record } = await world([{}]);
    await lose(1);
    answer = status(503);
    for (let looks = 0; looks < 2 * MAX; looks++) await look(1);
    expect((await realmState(books)).breakerSince).not.toBeNull();
    expect((await record(1)).code).toBe('u');
    await closeBreaker(books);
    await look(1);
    expect((await record(1)).code).toBe('D');
  });

  test('a realm that cannot be reached leaves it as it is, and counts for the breaker', async () => {
    const leaving = createServer((_, response) => balance(response, ''));
    leaving.listen(0, '127.0.0.1');
    await once(leaving, 'listening');
    const address = leaving.address();
    const there = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    const { lose, look, record, unknowns } = await world([{}], {}, there);
    await lose(1);
    leaving.close();
    leaving.closeAllConnections();
    await once(leaving, 'close');
    const before = await unknowns();
    for (let looks = 0; looks < 2 * MAX; looks++) expect(await look(1)).toHaveProperty('againInMs');
    expect((await record(1)).code).toBe('u');
    expect(await unknowns()).toBeGreaterThanOrEqual(before + 2 * MAX - 1);
  });

  test('a realm that asks to slow down leaves it as it is', async () => {
    const { lose, look, record, unknowns } = await world([{}]);
    await lose(1);
    const before = await unknowns();
    answer = status(429, '{}', { 'retry-after': '0' });
    for (let looks = 0; looks < 2 * MAX; looks++) expect(await look(1)).toHaveProperty('againInMs');
    expect((await record(1)).code).toBe('u');
    expect(await unknowns()).toBe(before);
  });
});

describe('the probe of an open breaker', () => {
  test.each([...REALM_HALTED])('answered by %i halts the realm with %s', async (code, reason) => {
    const { books, client, pace } = await world([{}]);
    await books.caller.redis.hset(books.realm, 'breaker', Date.now());
    answer = status(code);
    await new Breaker(books, client, pace, 1, 900_000).tick();
    expect((await realmState(books)).halt?.code).toBe(reason);
  });
});
