import { describe, expect, test } from 'vitest';
import { orderId } from '../../../src/core/ids.js';
import { replay } from '../../../src/ledger/moves/replay.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import { readDetails, readRecord } from '../../../src/ledger/read/rows.js';
import { tidingsFor } from '../../../src/ledger/sessions/merge.js';
import {
  attemptOf,
  merge,
  mergeContext,
  PAID,
  REFUSED,
  WAITS,
} from '../../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, START, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  begin,
  begun,
  concludeAs,
  feedAll,
  orphanAs,
  sendAs,
  settleAs,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/**
 * After a rollback two attempts of one order may carry the same number. The nonce tells them apart, and both may have
 * left.
 */
const bench = ledgersOnRedis();
const HERE = { nonce: 'in-the-ledger' };

async function fed(...lines: Parameters<typeof sealed>[1]): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger(), lines.length === 0 ? [{}] : lines);
  await feedAll(batch);
  return batch;
}

const code = async (batch: TestBatch) => (await readRecord(batch.ref, 1)).code;

describe('an attempt of the same number and another nonce', () => {
  test.each([
    ['manual', 'D'],
    ['idempotent', 'u'],
    ['readback', 'u'],
  ] as const)(
    '%s: in flight here and without a result there, it is %s and never waiting',
    async (certainty, end) => {
      const batch = await fed();
      await begun(batch, 1, HERE);
      await merge(batch, certainty, attemptOf(batch, 1, null));
      expect(await code(batch)).toBe(end);
      expect(await tieUp(batch.ledger)).toEqual([]);
    },
  );

  test('a definite refusal of the other attempt does not affect the one being sent', async () => {
    for (const record of [WAITS, REFUSED]) {
      const batch = await fed();
      const attempt = await begun(batch, 1, HERE);
      expect(await merge(batch, 'idempotent', attemptOf(batch, 1, record))).toMatchObject({ moved: 0 });
      expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 's', nonce: HERE.nonce });
      expect(await settleAs(batch, 1, 'P', attempt, HERE)).toMatchObject({ settled: true });
    }
  });

  test('unanswered in both, under two keys: the order becomes a doubt, because either may be applied', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'u', HERE);
    await merge(batch, 'idempotent', attemptOf(batch, 1, null, { keyNumber: 2 }));
    expect(await code(batch)).toBe('D');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('waiting here, without a result there: the order is unknown and is not resent as if unsent', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'w', HERE);
    await merge(batch, 'idempotent', attemptOf(batch, 1, null));
    expect(await code(batch)).toBe('u');
    expect(await begin(batch, 1, { nonce: 'next' })).toEqual({ refusal: 'order', state: 'unknown' });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('paid there: the order is paid, whatever state the ledger had', async () => {
    const batch = await fed();
    await begun(batch, 1, HERE);
    expect(await merge(batch, 'idempotent', attemptOf(batch, 1, PAID))).toMatchObject({
      moved: 1,
      second: [],
    });
    expect(await code(batch)).toBe('P');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test.each([
    ['paid', PAID],
    ['unanswered', null],
  ])(
    '%s there and paid here: a possible second payment, which is said once and changes nothing',
    async (_, record) => {
      const batch = await fed();
      await sendAs(batch, 1, 'P', HERE);
      const before = await readRecord(batch.ref, 1);
      const told = attemptOf(batch, 1, record);
      expect(await merge(batch, 'manual', told)).toMatchObject({
        moved: 0,
        second: [orderId(batch.ref.id, 1)],
      });
      expect(await readRecord(batch.ref, 1)).toEqual(before);
      expect(await readDetails(batch.ref, 1)).toMatchObject([{ event: 'orphaned', attempt: 'nonce-1' }]);
      expect(await merge(batch, 'manual', told)).toMatchObject({ moved: 0, second: [] });
      expect(await readDetails(batch.ref, 1)).toHaveLength(1);
      expect(await tieUp(batch.ledger)).toEqual([]);
    },
  );

  test('paid in both is reported as a second payment, even if both left in the same millisecond', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'P');
    const { sentAt } = await readRecord(batch.ref, 1);
    const at = { firstSentAt: sentAt ?? 0, sentAt: sentAt ?? 0 };
    const same = attemptOf(batch, 1, PAID, at);
    expect((await merge(batch, 'manual', same)).second).toEqual([]);
    const other = attemptOf(batch, 1, PAID, { ...at, nonce: 'another' });
    expect((await merge(batch, 'manual', other)).second).toEqual([orderId(batch.ref.id, 1)]);
  });

  test('under a key that the realm honours, paid in both is one payment', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'P', HERE);
    expect(await merge(batch, 'idempotent', attemptOf(batch, 1, PAID))).toMatchObject({ second: [] });
  });

  test('the key’s lifetime counts from its first use in either history', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'u', HERE);
    await merge(batch, 'idempotent', attemptOf(batch, 1, null));
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'u', keyFirstAt: START });
    const other = await fed();
    const { sentAt } = await begun(other, 1, HERE);
    const later = { sentAt: sentAt + 5_000, firstSentAt: sentAt + 5_000, keyFirstAt: sentAt + 5_000 };
    await merge(other, 'idempotent', attemptOf(other, 1, null, later));
    expect(await readRecord(other.ref, 1)).toMatchObject({ code: 'u', keyFirstAt: sentAt });
  });
});

describe('a doubt', () => {
  test.each([
    ['waits', WAITS],
    ['is refused', REFUSED],
  ])('is not ended by an attempt that %s: what it doubts is another one', async (_, record) => {
    const batch = await fed();
    const detail = JSON.stringify({
      event: 'concluded',
      at: 1,
      state: 'doubt',
      by: 'x',
      code: null,
      message: 'x',
    });
    await batch.ledger.scripts.script('give-up', batch.ledger.keyPrefix, [
      batch.no,
      detail,
      '1',
      '5 c ',
      '',
      '',
    ]);
    const told = attemptOf(batch, 1, record);
    expect(await merge(batch, 'idempotent', told)).toMatchObject({ moved: 0 });
    expect(await code(batch)).toBe('D');
    // It is recorded, so the next start does not report it again.
    expect(await tidingsFor(batch.ledger, [told])).toEqual([]);
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('is settled by an attempt that was paid', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'D', HERE);
    await merge(batch, 'manual', attemptOf(batch, 1, PAID));
    expect(await code(batch)).toBe('P');
  });
});

describe('an attempt that the ledger knows', () => {
  test('by its record: nothing is missing, and the order continues', async () => {
    const batch = await fed();
    const first = await begun(batch, 1);
    await settleAs(batch, 1, 'u', first);
    const told = attemptOf(batch, 1, null, { sentAt: first.sentAt, firstSentAt: first.sentAt });
    expect(await tidingsFor(batch.ledger, [told])).toEqual([]);
  });

  test('by its history: nothing changes, though the order has moved on since', async () => {
    const batch = await fed();
    await begun(batch, 1);
    await orphanAs(batch, 1, 'u', { attempt: 'nonce-1' });
    await concludeAs(batch, 1, 'u', 'w');
    const told = attemptOf(batch, 1, null);
    expect(await tidingsFor(batch.ledger, [told])).toEqual([]);
    expect(await replay(mergeContext(batch, 'manual'), told)).toBe('ahead');
    expect(await code(batch)).toBe('w');
    await begun(batch, 1, { nonce: 'next' });
    expect(await replay(mergeContext(batch, 'manual'), told)).toBe('ahead');
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 's', nonce: 'next' });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('and whose session was given up: its answer still counts', async () => {
    const batch = await fed();
    await begun(batch, 1);
    await orphanAs(batch, 1, 'D');
    expect(await code(batch)).toBe('D');
    expect(await merge(batch, 'manual', attemptOf(batch, 1, PAID))).toMatchObject({ moved: 1 });
    expect(await readBatch(batch.ref)).toMatchObject({ counts: { paid: 1 } });
    expect(await tieUp(batch.ledger)).toEqual([]);
  });

  test('and that is under way in a live process: a ledger that forgot it shows it as sending again', async () => {
    const batch = await fed();
    const context = mergeContext(batch, 'manual', ['nonce-1']);
    expect(await replay(context, attemptOf(batch, 1, null))).toBe('s');
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 's', nonce: 'nonce-1' });
    expect(await replay(context, attemptOf(batch, 1, null))).toBe('ahead');
    expect(await tieUp(batch.ledger)).toEqual([]);
  });
});
