import { describe, expect, test } from 'vitest';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { acceptMissing } from '../../../src/ledger/sessions/accept-missing.js';
import { Session } from '../../../src/ledger/sessions/session.js';
import {
  attemptOf,
  merge,
  mergeContext,
  PAID,
  REFUSED,
  WAITS,
} from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import { begun, concludeAs, feedAll, orphanAs, sendAs } from '../../support/ledger/order-moves.js';
import { tempFolder } from '../../support/temp-folder.js';

/** An answer to one attempt does not settle another attempt of the same order. */
const bench = ledgersOnRedis();

async function newBatch(): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger(), [{}, {}]);
  await feedAll(batch);
  return batch;
}

const codeOf = async ({ ref }: TestBatch) => (await readRecord(ref, 1)).code;

const NOES = [
  ['refused', REFUSED],
  ['waiting', WAITS],
] as const;

describe('a doubt that two attempts share', () => {
  const sent = { nonce: 'B', keyNumber: 2, sentAt: START + 5, firstSentAt: START + 5, keyFirstAt: START + 5 };

  async function shared(): Promise<TestBatch> {
    const batch = await newBatch();
    await begun(batch, 1, { session: 'worker' });
    expect(await orphanAs(batch, 1, 'D', { attempt: 'nonce-1' })).toBe(true);
    await merge(batch, 'manual', attemptOf(batch, 1, null, sent));
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'D', nonce: null });
    return batch;
  }

  test.each(NOES)('is not settled by a negative answer to one of them: %s', async (_, record) => {
    const batch = await shared();
    await merge(batch, 'manual', attemptOf(batch, 1, record));
    expect(await codeOf(batch)).toBe('D');
  });

  test('is settled as paid, and the other attempt is reported as a possible second payment', async () => {
    const batch = await shared();
    await merge(batch, 'manual', attemptOf(batch, 1, PAID));
    expect(await codeOf(batch)).toBe('P');
    expect((await readBatch(batch.ref))?.notes).toHaveLength(1);
  });
});

describe('a doubt made for a lost journal', () => {
  async function givenUp(batch: TestBatch): Promise<void> {
    const { ledger } = batch;
    const lost = await Session.open('worker', await tempFolder());
    await lost.register(ledger);
    await ledger.scripts.redis.hset(ledger.keyPrefix, 'era', 'another');
    await acceptMissing(mergeContext(batch, 'manual'), lost.id, { who: 'ada', at: 1 });
    await lost.close();
  }

  test.each([
    ['R', REFUSED],
    ['w', WAITS],
  ] as const)('is not ended by an older answer: %s', async (code, record) => {
    const batch = await newBatch();
    await sendAs(batch, 1, code);
    await givenUp(batch);
    expect(await codeOf(batch)).toBe('D');
    // The live session merges its own journal, as every session does before the ledger opens again.
    await merge(batch, 'manual', attemptOf(batch, 1, record));
    expect(await codeOf(batch)).toBe('D');
  });

  test('gives an existing doubt another number', async () => {
    const batch = await newBatch();
    await sendAs(batch, 1, 'D');
    const { doubt } = await readRecord(batch.ref, 1);
    await givenUp(batch);
    const after = await readRecord(batch.ref, 1);
    expect(after).toMatchObject({ code: 'D', nonce: null });
    expect(after.doubt).not.toBe(doubt);
  });
});

describe('a negative answer to an attempt of a discarded history, under a higher number', () => {
  function second(batch: TestBatch) {
    const record = `w|1|2|0|||${START.toString(36)}|1||`;
    return attemptOf(batch, 1, record, { nonce: 'of another past', attempts: 2 });
  }

  test.each(['readback', 'idempotent'] as const)(
    'does not settle an unknown order: %s',
    async (certainty) => {
      const batch = await newBatch();
      await sendAs(batch, 1, 'u');
      await merge(batch, certainty, second(batch));
      expect(await codeOf(batch)).toBe('u');
    },
  );

  test('does not requeue an order that was refused, or that a person called unpaid', async () => {
    const refused = await newBatch();
    await sendAs(refused, 1, 'R');
    await merge(refused, 'manual', second(refused));
    expect(await codeOf(refused)).toBe('R');

    const unpaid = await newBatch();
    await sendAs(unpaid, 1, 'D');
    await concludeAs(unpaid, 1, 'D', 'X');
    await merge(unpaid, 'manual', second(unpaid));
    expect(await codeOf(unpaid)).toBe('X');
  });
});
