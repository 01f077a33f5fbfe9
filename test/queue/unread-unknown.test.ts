import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { REALM_HALTED } from '../../src/core/classify.js';
import type { RealmProfile } from '../../src/core/profile.js';
import { closeBreaker } from '../../src/ledger/moves/steer.js';
import { findSpent } from '../../src/ledger/read/earlier.js';
import { realmState } from '../../src/ledger/read/realm-state.js';
import { readDetails } from '../../src/ledger/read/rows.js';
import { Breaker } from '../../src/queue/breaker.js';
import { type Line, ledgersOnRedis } from '../support/ledger/ledgers-on-redis.js';
import { askedRealm, balance, MAX, readbackWorld, status } from '../support/ledger/readback-orders.js';
import { tieUp } from '../support/ledger/tie-up.js';

/** Members that cannot be read once an order is unknown, and the probe of an open breaker. */
const bench = ledgersOnRedis();
const realm = askedRealm();
const world = (lines: readonly Line[], changes: Partial<RealmProfile> = {}, baseUrl = realm.url) =>
  readbackWorld(bench, baseUrl, lines, changes);

describe('once an order is unknown, an unreadable member does not refuse it', () => {
  test.each([
    ['a member that is gone', status(404)],
    ['a refusal', status(400)],
    ['a web page', status(200, '<html>')],
    ['no balance in the record', status(200, '{}')],
    ['a server error', status(500)],
  ] as const)('%s becomes a doubt after limited tries', async (_, broken) => {
    const { ledger, batch, lose, look, record } = await world([{ reference: 'a' }, {}]);
    await lose(1);
    realm.answer = broken;
    for (let looks = 1; looks < MAX; looks++) {
      await look(1);
      expect((await record(1)).code).toBe('u');
    }
    await ledger.scripts.redis.hdel(ledger.keyPrefix, 'unknowns');
    await look(1);
    expect(await record(1)).toMatchObject({ code: 'D' });
    const said = (await readDetails(batch.ref, 1)).findLast(({ event }) => event === 'concluded');
    expect(said).toMatchObject({ message: expect.stringContaining('could not be read') });
    expect((await findSpent(ledger, ['a'])).size).toBe(1);
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('a look that shows the balance restarts the count', async () => {
    const { ledger, lose, look, record } = await world([{}]);
    await lose(1);
    for (let looks = 0; looks < 3 * MAX; looks++) {
      realm.answer = looks % MAX === 0 ? balance : status(400);
      await look(1);
    }
    expect((await record(1)).code).toBe('u');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test.each([...REALM_HALTED.keys()])('%i halts the realm and the order stays unknown', async (code) => {
    const { ledger, lose, look, record } = await world([{}]);
    await lose(1);
    realm.answer = status(code);
    for (let looks = 0; looks < 2 * MAX; looks++) await look(1);
    expect((await realmState(ledger)).halt).not.toBeNull();
    expect((await record(1)).code).toBe('u');
    expect(await tieUp(ledger)).toEqual([]);
  });

  test('while the realm gives no answer at all the order stays unknown, and the breaker opens', async () => {
    const { ledger, lose, look, record } = await world([{}]);
    await lose(1);
    realm.answer = status(503);
    for (let looks = 0; looks < 2 * MAX; looks++) await look(1);
    expect((await realmState(ledger)).breakerSince).not.toBeNull();
    expect((await record(1)).code).toBe('u');
    await closeBreaker(ledger);
    await look(1);
    expect((await record(1)).code).toBe('D');
  });

  test('an unreachable realm leaves the order as it is, and counts for the breaker', async () => {
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

  test('a realm that asks to slow down leaves the order as it is', async () => {
    const { lose, look, record, unknowns } = await world([{}]);
    await lose(1);
    const before = await unknowns();
    realm.answer = status(429, '{}', { 'retry-after': '0' });
    for (let looks = 0; looks < 2 * MAX; looks++) expect(await look(1)).toHaveProperty('againInMs');
    expect((await record(1)).code).toBe('u');
    expect(await unknowns()).toBe(before);
  });
});

describe('the probe of an open breaker', () => {
  test.each([...REALM_HALTED])('answered by %i halts the realm with %s', async (code, reason) => {
    const { ledger, client, pace } = await world([{}]);
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'breaker', Date.now());
    realm.answer = status(code);
    await new Breaker(ledger, client, pace, { probeEveryMs: 1, haltAfterMs: 900_000 }).tick();
    expect((await realmState(ledger)).halt?.code).toBe(reason);
  });
});
