import { afterEach, describe, expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { FORMAT, refuseOtherFormat } from '../../src/ledger/format.js';
import { REALMS_KEY } from '../../src/ledger/keys.js';
import { openBatch, registerRealm } from '../../src/ledger/moves/import-batch.js';
import { replay } from '../../src/ledger/moves/replay.js';
import { allLedgers } from '../../src/ledger/realm-ledger.js';
import { Session } from '../../src/ledger/sessions/session.js';
import { attemptOf, mergeContext, PAID } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, sealed } from '../support/ledger/ledgers-on-redis.js';
import { begin, claimFor, feedAll } from '../support/ledger/order-moves.js';
import { tempFolder } from '../support/temp-folder.js';

const bench = ledgersOnRedis();
const open: Session[] = [];
afterEach(() => Promise.all(open.splice(0).map((session) => session.close())));

const OTHERS = [
  ['of an older version, which wrote no format', null, 'ALM_STORE_OLDER'],
  ['of an older version', String(FORMAT - 1), 'ALM_STORE_OLDER'],
  ['of a newer version', String(FORMAT + 1), 'ALM_STORE_NEWER'],
] as const;

describe('a store with realms', () => {
  test('of this version is accepted, and its format key is not taken for a realm', async () => {
    const ledger = await bench.ledger();
    await registerRealm(ledger);
    await refuseOtherFormat(ledger.scripts);
    const ids = (await allLedgers(ledger.scripts)).map(({ id }) => id);
    expect(ids).toContain(ledger.id);
    expect(await ledger.scripts.redis.hget(REALMS_KEY, 'format')).toBe(String(FORMAT));
  });

  test.each(OTHERS)('%s is refused', async (_, format, code) => {
    const { scripts } = await bench.ledger();
    await (format === null
      ? scripts.redis.hdel(REALMS_KEY, 'format')
      : scripts.redis.hset(REALMS_KEY, 'format', format));
    await expect(refuseOtherFormat(scripts)).rejects.toMatchObject({ code });
    await scripts.redis.hset(REALMS_KEY, 'format', FORMAT);
  });

  test('an empty store is new', async () => {
    const { scripts } = await bench.ledger();
    const kept = await scripts.redis.hgetall(REALMS_KEY);
    await scripts.redis.del(REALMS_KEY);
    await refuseOtherFormat(scripts);
    await scripts.redis.hset(REALMS_KEY, kept);
  });
});

describe('a ledger', () => {
  test('a new ledger gets the format of its first writer', async () => {
    const ledger = await bench.ledger();
    await openBatch(ledger, { content: 'c', id: batchId('first'), importer: 'one', createdAt: 1 });
    expect(await ledger.scripts.redis.hget(ledger.keyPrefix, 'format')).toBe(String(FORMAT));
  });

  test('a ledger that lost everything but its record of the loss is not taken for an older format', async () => {
    const batch = await sealed(await bench.ledger(), [{}]);
    const { ledger } = batch;
    const { redis } = ledger.scripts;
    await redis.del(...(await redis.keys(`${ledger.keyPrefix.replaceAll(/[{}]/g, '?')}*`)));
    await redis.hset(ledger.keyPrefix, 'seq', 0, 'rollback', '{}', 'armed', '');
    expect(await replay(mergeContext(batch, 'manual'), attemptOf(batch, 1, PAID))).toBe('P');
    expect(await redis.hget(ledger.keyPrefix, 'format')).toBe(String(FORMAT));
  });

  test.each(OTHERS)('%s: no process joins, imports, claims, begins or merges', async (_, format, code) => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{}]);
    await feedAll(batch);
    const { redis } = ledger.scripts;
    await (format === null
      ? redis.hdel(ledger.keyPrefix, 'format')
      : redis.hset(ledger.keyPrefix, 'format', format));
    const session = await Session.open('worker', await tempFolder());
    open.push(session);
    await expect(session.register(ledger)).rejects.toMatchObject({ code });
    const wanted = { content: 'other', id: batchId('other'), importer: 'one', createdAt: 1 };
    await expect(openBatch(ledger, wanted)).rejects.toMatchObject({ code });
    expect(await claimFor(batch, 1)).toEqual({ refusal: 'format' });
    expect(await begin(batch, 1)).toEqual({ refusal: 'format' });
    const attempt = attemptOf(batch, 1, PAID);
    await expect(replay(mergeContext(batch, 'manual'), attempt)).rejects.toMatchObject({
      code,
    });
    expect(await redis.hget(ledger.keyPrefix, 'format')).toBe(format);
  });
});
