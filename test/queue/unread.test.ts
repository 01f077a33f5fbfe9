import { describe, expect, test } from 'vitest';
import { REALM_HALTED } from '../../src/core/classify.js';
import type { RealmProfile } from '../../src/core/profile.js';
import { ordersPage } from '../../src/desk/orders/orders-page.js';
import { pauseBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { realmState } from '../../src/ledger/read/realm-state.js';
import { readDetails, rowContext } from '../../src/ledger/read/rows.js';
import { Breaker } from '../../src/queue/breaker.js';
import { Unread } from '../../src/queue/unread.js';
import { type Line, ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { audit, claimFor, held, WHY } from '../support/ledger/order-moves.js';
import {
  type Answer,
  askedRealm,
  balance,
  MAX,
  readbackWorld,
  status,
} from '../support/ledger/readback-orders.js';
import { testProfile } from '../support/ledger/realm-profile.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { freePort } from '../support/redis-server.js';

/** Members that cannot be read before an order is sent. */
const bench = ledgersOnRedis();
const realm = askedRealm();
const world = (lines: readonly Line[], changes: Partial<RealmProfile> = {}, baseUrl = realm.url) =>
  readbackWorld(bench, baseUrl, lines, changes);

describe('before an order is sent', () => {
  test('a member that the realm does not know refuses it: its reference is free, its member handed on', async () => {
    const { ledger, batch, deliver, record, dead } = await world([
      { member: '1', reference: 'a' },
      { member: '1' },
      { member: '3' },
    ]);
    realm.answer = status(404);
    expect(await claimFor(batch, 1)).toMatchObject({ answer: 'go' });
    expect(await deliver(2)).toBe('member-held');
    expect(await deliver(1)).toBe('refused');
    expect(await record(1)).toMatchObject({ code: 'R', attempts: 0, status: 404, evidence: 'readback' });
    expect(dead).toEqual(['2 refused ALM_REFUSED_NOT_FOUND']);
    expect((await findSpent(ledger, ['a'])).size).toBe(0);
    expect(await readDetails(batch.ref, 1)).toMatchObject([{ code: 'ALM_REFUSED_NOT_FOUND' }]);
    realm.answer = balance;
    expect(await deliver(2)).toBe('read');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('an unknown recipient refuses a transfer as well', async () => {
    const { deliver, record } = await world([{ member: '1', to: '2' }, {}]);
    realm.answer = (response, member) => (member === '2' ? status(404) : balance)(response, member);
    expect(await deliver(1)).toBe('refused');
    expect((await record(1)).code).toBe('R');
  });

  test('refusals in a row halt the batch before all of it fails, like refused writes', async () => {
    const { batch, deliver } = await world(Array.from({ length: 8 }, () => ({})));
    realm.answer = status(404);
    for (let index = 1; index <= 5; index++) expect(await deliver(index)).toBe('refused');
    expect(await deliver(6)).toBe('halted');
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'halted',
      reason: { code: 'ALM_BATCH_REFUSALS' },
      counts: { refused: 5, planned: 3 },
    });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test.each([...REALM_HALTED])(
    '%i halts the realm with %s; the order stays planned',
    async (code, reason) => {
      const { ledger, deliver, record } = await world([{}]);
      realm.answer = status(code);
      expect(await deliver(1)).toBe('halted');
      expect((await realmState(ledger)).halt?.code).toBe(reason);
      expect(await record(1)).toMatchObject({ code: 'p', tries: 0 });
      expect(await deliver(1)).toBe('halted');
      expect(realm.asked).toBe(1);
      expect(await tieUp(ledger)).toEqual([]);
    },
  );

  test('the profile’s meaning of a status applies to reads, too', async () => {
    const { deliver, record, ledger } = await world([{}, {}], {
      statusOverrides: { 403: 'refused', 404: 'realm-halted' },
    });
    realm.answer = status(403);
    expect(await deliver(1)).toBe('refused');
    expect((await record(1)).code).toBe('R');
    realm.answer = status(404);
    expect(await deliver(2)).toBe('halted');
    expect((await realmState(ledger)).halt?.code).toBe('ALM_SEND_HALTED');
  });

  test.each([
    ['a server error', status(500), 'ALM_SEND_UNREAD'],
    ['a refusal that names no member', status(422), 'ALM_SEND_UNREAD'],
    ['a web page', status(200, '<html>'), 'ALM_SEND_UNREAD'],
    ['an answer cut off', ((response) => response.destroy()) as Answer, 'ALM_SEND_UNREAD'],
    ['no answer in time', (() => {}) as Answer, 'ALM_SEND_UNREAD'],
    ['no balance in the record', status(200, '{"id":1}'), 'ALM_SEND_NO_BALANCE'],
  ] as const)('%s has limited tries, then it is exhausted', async (_, broken, errorClass) => {
    const { ledger, batch, deliver, record, dead } = await world([{ reference: 'a' }, {}]);
    realm.answer = broken;
    for (let tries = 1; tries < MAX; tries++) {
      expect(await deliver(1)).toBe('unread');
      expect(await record(1)).toMatchObject({ code: 'w', tries });
      expect(await tieUp(ledger)).toEqual([]);
    }
    // Another order got an answer meanwhile, so the realm is up.
    await ledger.scripts.redis.hdel(ledger.keyPrefix, 'unknowns');
    expect(await deliver(1)).toBe('unread');
    expect(await record(1)).toMatchObject({ code: 'X', tries: MAX, attempts: 0 });
    expect((await readDetails(batch.ref, 1)).at(-1)).toMatchObject({ code: errorClass, state: 'exhausted' });
    expect(dead).toEqual([`2 exhausted ${errorClass}`]);
    expect((await findSpent(ledger, ['a'])).size).toBe(0);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('an order put off for an unreadable member is found at the desk by its error', async () => {
    const { batch, deliver } = await world([{}, {}]);
    realm.answer = status(500);
    expect(await deliver(1)).toBe('unread');
    const view = await readBatch(batch.ref);
    if (view === undefined) throw new Error('the batch is not sealed');
    const context = await rowContext(batch.ref, new PlanReader(batch.ledger));
    const found = await ordersPage(context, view, { class: 'ALM_SEND_UNREAD' });
    expect(found.orders).toMatchObject([{ index: 1, state: 'planned', class: 'ALM_SEND_UNREAD' }]);
  });

  test.each([401, 403, 407])(
    'an open breaker whose probe is answered %i halts the realm instead of closing',
    async (code) => {
      const { ledger, client, pace, deliver } = await world([{}, {}]);
      realm.answer = status(503);
      for (let tries = 1; tries <= MAX; tries++) await deliver(1);
      realm.answer = status(code);
      await new Breaker(ledger, client, pace, { probeEveryMs: 1, haltAfterMs: 900_000 }).tick();
      expect(await realmState(ledger)).toMatchObject({
        halt: { code: expect.stringMatching(/^ALM_(KEY|PROXY)_/) },
        breakerSince: expect.any(Number),
      });
    },
  );

  test('while the realm gives no answer at all, the breaker opens before an order is exhausted', async () => {
    const { ledger, batch, client, pace, deliver, record } = await world([{}, {}]);
    realm.answer = status(503);
    for (let tries = 1; tries <= MAX; tries++) expect(await deliver(1)).toBe('unread');
    expect(await record(1)).toMatchObject({ code: 'w', tries: MAX });
    expect((await realmState(ledger)).breakerSince).not.toBeNull();
    expect(await deliver(1)).toBe('breaker');
    expect((await readBatch(batch.ref))?.counts).toEqual({ planned: 2 });
    // The realm is back, and only this member is broken.
    realm.answer = (response, member) => (member === '9001' ? status(503) : balance)(response, member);
    await new Breaker(ledger, client, pace, { probeEveryMs: 1, haltAfterMs: 900_000 }).tick();
    expect((await realmState(ledger)).breakerSince).toBeNull();
    expect(await deliver(1)).toBe('unread');
    expect((await record(1)).code).toBe('X');
    expect(await deliver(2)).toBe('read');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('an unreachable realm counts for the breaker and never against the order', async () => {
    const port = await freePort();
    const lines = [{}, {}];
    const { ledger, deliver, record } = await world(lines, {}, `http://127.0.0.1:${port}`);
    for (let looks = 1; looks <= 20; looks++) {
      expect((await realmState(ledger)).breakerSince).toBeNull();
      expect(await deliver(1)).toBe('unreached');
    }
    expect((await realmState(ledger)).breakerSince).not.toBeNull();
    expect(await record(1)).toMatchObject({ code: 'p', tries: 0 });
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a realm that asks to slow down is waited for: no try, no breaker', async () => {
    const { deliver, record, unknowns } = await world([{}]);
    realm.answer = status(429, '{}', { 'retry-after': '0' });
    for (let looks = 0; looks < 2 * MAX; looks++) expect(await deliver(1)).toBe('slow-down');
    expect(await record(1)).toMatchObject({ code: 'p', tries: 0 });
    expect(await unknowns()).toBe(0);
  });

  test('a batch paused while a member was read keeps its order as it was', async () => {
    const { ledger, batch, record } = await world([{}]);
    const hold = await held(batch, 1);
    const unread = new Unread(
      ledger,
      testProfile({ certainty: 'readback' }),
      () => Promise.resolve({ batch: batch.ref.id, createdAt: 0, sliceMs: 1_000 }),
      () => {},
    );
    await pauseBatch(batch.ref, WHY, audit('paused'));
    const why = { message: 'not found', status: 404, retryAfterMs: null } as const;
    const trouble = { ...why, kind: 'refused', code: 'ALM_REFUSED_NOT_FOUND' } as const;
    await unread.beforeSending({ no: batch.no, index: 1 }, batch.row(1), hold, trouble);
    expect((await record(1)).code).toBe('p');
    expect(await tieUp(ledger)).toEqual([]);
  });
});
