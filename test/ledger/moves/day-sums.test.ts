import { describe, expect, test } from 'vitest';
import { encodeEvent } from '../../../src/ledger/order-event.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { utcDay } from '../../../src/ledger/read/verify-sums.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { ledgersOnRedis, START, sealed } from '../../support/ledger/ledgers-on-redis.js';
import { begin, begun, concludeAs, feedAll, settleAs } from '../../support/ledger/order-moves.js';

/**
 * A batch’s own sums fit a Redis counter, because planning refuses a larger file. The day’s sum grows over all batches
 * and may reach the limit of the counter. No script may fail there after it has written.
 */
const bench = ledgersOnRedis();
const LARGEST = 2 ** 53 - 1;
const AMOUNT = `${LARGEST} c `;
const MOST = 2n ** 63n - 1n;
const DETAIL = encodeEvent({
  event: 'orphaned',
  at: START,
  key: 'k.1',
  session: 'gone',
  code: 'ALM_SEND_OWNER_DIED',
  message: 'lost',
});

/** The days on which an order may count: that of the batch, and today. */
const DAYS = [utcDay(START), utcDay(Date.now())];

async function dayStandsAt(ledger: RealmLedger, sum: bigint): Promise<void> {
  for (const day of DAYS) await ledger.scripts.redis.hset(`${ledger.keyPrefix}:days`, day, String(sum));
}

async function counts(batch: Awaited<ReturnType<typeof sealed>>) {
  return (await readBatch(batch.ref))?.counts;
}

describe('the sum of a day', () => {
  test('halts the batch before any write if no counter could hold it, and names the reason', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: LARGEST }, { tokens: LARGEST }]);
    await feedAll(batch);
    await dayStandsAt(ledger, MOST - BigInt(LARGEST) + 1n);
    expect(await begin(batch, 1)).toEqual({ refusal: 'cap' });
    expect(await readBatch(batch.ref)).toMatchObject({
      state: 'halted',
      reason: { code: 'ALM_BATCH_DAY_SUM', message: expect.any(String), next: expect.any(String) },
      counts: { planned: 2 },
    });
  });

  test('is checked for each order, also for orders that begin in one call', async () => {
    const ledger = await bench.ledger();
    const lines = Array.from({ length: 40 }, () => ({ tokens: LARGEST }));
    const batch = await sealed(ledger, lines);
    await feedAll(batch);
    await dayStandsAt(ledger, MOST - 22n * BigInt(LARGEST));
    const answers = await Promise.all(lines.map((_, i) => begin(batch, i + 1)));
    const sending = answers.filter((answer) => !('refusal' in answer)).length;
    expect(sending).toBeGreaterThan(15);
    expect(sending).toBeLessThan(23);
    expect(await counts(batch)).toEqual({ sending, planned: 40 - sending });
    expect(await readBatch(batch.ref)).toMatchObject({ reason: { code: 'ALM_BATCH_DAY_SUM' } });
  });

  test('at its limit does not keep any move from completing: given up, resolved, refused, taken back', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(
      ledger,
      Array.from({ length: 4 }, () => ({ tokens: LARGEST })),
    );
    await feedAll(batch);
    const third = await begun(batch, 3);
    await begun(batch, 4, { session: 'gone' });
    await dayStandsAt(ledger, MOST);
    const lost = [batch.no, DETAIL, '1', AMOUNT, '', '', '2', AMOUNT, '', ''];
    expect(await ledger.scripts.script('give-up', ledger.keyPrefix, lost)).toEqual([2, String(2 * LARGEST)]);
    for (const day of DAYS)
      expect(await ledger.scripts.redis.hget(`${ledger.keyPrefix}:days`, day)).toBe(String(MOST));
    expect(await counts(batch)).toEqual({ doubt: 2, sending: 2 });

    await dayStandsAt(ledger, -MOST);
    expect(await concludeAs(batch, 1, 'D', 'X')).toMatchObject({ concluded: true });
    expect(await settleAs(batch, 3, 'R', third)).toMatchObject({ settled: true });
    const unsent = [batch.no, '4', 'gone', AMOUNT, DETAIL, 'w', '', 'nonce-4'];
    expect(await ledger.scripts.script('orphan', ledger.keyPrefix, unsent)).toEqual(['ok']);
    expect(await counts(batch)).toEqual({ exhausted: 1, doubt: 1, refused: 1, planned: 1 });
  });

  test('at its limit does not make recovery drop what a journal holds', async () => {
    const ledger = await bench.ledger();
    const batch = await sealed(ledger, [{ tokens: LARGEST }]);
    await dayStandsAt(ledger, MOST);
    const numbers = { requests: 1, retries: 0, limited: 0 };
    const facts = {
      fits: batch.no,
      archived: null,
      debt: { content: 'a-digest', origin: null, hasReference: false, notOf: null },
      order: {},
      ref: null,
      undoes: null,
      members: [],
      unknown: 'u',
      answered: false,
      session: 's',
      settleMs: 0,
      ...numbers,
    };
    const reply = await ledger.scripts.script('replay', ledger.keyPrefix, [
      ...[batch.ref.id, '1', 'n', '1', AMOUNT],
      ...[`u|1|1|0|||${Date.now().toString(36)}|||`, '0', DETAIL, JSON.stringify(facts)],
    ]);
    expect(reply).toEqual(['ok', 'u', '{}']);
    expect(await counts(batch)).toEqual({ unknown: 1 });
    expect(await ledger.scripts.redis.hget(`${ledger.keyPrefix}:b:${batch.no}`, 'requests')).toBe('1');
  });
});
