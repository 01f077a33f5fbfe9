import { describe, expect, test } from 'vitest';
import { batchKeys } from '../../../src/ledger/keys.js';
import { retryOrder } from '../../../src/ledger/moves/retry.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { ledgersOnRedis, sealed, type TestBatch } from '../../support/ledger/ledgers-on-redis.js';
import {
  begin,
  begun,
  concludeAs,
  feedAll,
  moment,
  orphanAs,
  sendAs,
  settleAs,
} from '../../support/ledger/order-moves.js';
import { tieUp } from '../../support/ledger/tie-up.js';

/** A key’s age is checked before each request, by the store’s time since its first use. */
const bench = ledgersOnRedis();
const LIFETIME_MS = 60_000;
const HOUR_MS = 3_600_000;

async function fed(): Promise<TestBatch> {
  const batch = await sealed(await bench.ledger(), [{}]);
  await feedAll(batch);
  return batch;
}

/** Makes every time in the record of order 1 that much earlier. The day’s sums stay. */
async function age(batch: TestBatch, ms: number): Promise<void> {
  const { redis } = batch.ledger.scripts;
  const key = batchKeys(batch.ledger.keyPrefix, batch.no).records(0);
  const fields = ((await redis.hget(key, '1')) ?? '').split('|');
  const earlier = (stamp: string) => (Number.parseInt(stamp, 36) - ms).toString(36);
  const [number, firstUsed] = (fields[1] ?? '').split('@');
  if (firstUsed !== undefined) fields[1] = `${number}@${earlier(firstUsed)}`;
  if (fields[6] !== undefined && fields[6] !== '') fields[6] = earlier(fields[6]);
  await redis.hset(key, '1', fields.join('|'));
}

const resend = (batch: TestBatch, known: number | null = 0, nonce = 'again') =>
  begin(batch, 1, { nonce, keyAgeMaxMs: LIFETIME_MS, keyAgeKnownMs: known });

const retry = (batch: TestBatch) =>
  retryOrder(batch.ref, 1, batch.row(1), { who: 'ada', why: null, at: moment(), nonce: `retry-${moment()}` });

describe('an unknown order is resent under its key', () => {
  test('until the request might arrive after the key’s lifetime, and never from then on', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'u');
    await age(batch, LIFETIME_MS - 5_000);
    const before = await readRecord(batch.ref, 1);
    const again = await begun(batch, 1, { nonce: 'in time', keyAgeMaxMs: LIFETIME_MS });
    expect(again).toMatchObject({ resend: true, keyNumber: 1, keyFirstAt: before.sentAt });
    await settleAs(batch, 1, 'u', again, { nonce: 'in time' });
    await age(batch, 5_000);
    expect(await resend(batch)).toMatchObject({ refusal: 'key-old' });
    expect((await readRecord(batch.ref, 1)).code).toBe('u');
  });

  test('but not if this process has known the key for longer than the store says it exists', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'u');
    await age(batch, 10_000);
    expect(await resend(batch, 20_000)).toMatchObject({ refusal: 'clocks' });
    expect(await resend(batch, null)).toMatchObject({ refusal: 'clocks' });
    expect(await resend(batch, 11_000)).toMatchObject({ resend: true });
  });

  test('but not if the clocks of this process disagree', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'u');
    expect(await resend(batch, null)).toMatchObject({ refusal: 'clocks' });
  });

  test('but not if the store’s clock is before the key’s first use', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'u');
    await age(batch, -HOUR_MS);
    expect(await resend(batch)).toMatchObject({ refusal: 'clocks' });
  });
});

describe('the age of a key counts from its first use', () => {
  test('also if “slow down” came in between', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'w');
    await age(batch, HOUR_MS);
    const { sentAt: first } = await readRecord(batch.ref, 1);
    const second = await begun(batch, 1, { nonce: 'two' });
    expect(second).toMatchObject({ resend: false, keyNumber: 1, keyFirstAt: first });
    expect(second.firstSentAt).toBe(second.sentAt);
    await settleAs(batch, 1, 'u', second, { nonce: 'two' });
    expect(await readRecord(batch.ref, 1)).toMatchObject({ keyFirstAt: first, sentAt: second.sentAt });
    expect(await resend(batch)).toMatchObject({ refusal: 'key-old' });
  });

  test('also if its sender died and a resend never left', async () => {
    const batch = await fed();
    const { sentAt } = await begun(batch, 1);
    await orphanAs(batch, 1, 'u');
    await begun(batch, 1, { nonce: 'two', keyAgeMaxMs: LIFETIME_MS });
    await orphanAs(batch, 1, 'w', { at: 2 });
    expect(await readRecord(batch.ref, 1)).toMatchObject({ code: 'u', keyFirstAt: sentAt, sentAt });
    expect(await tieUp(batch.ledger)).toEqual([]);
    await age(batch, LIFETIME_MS);
    expect(await resend(batch)).toMatchObject({ refusal: 'key-old' });
  });

  test('also if a person called it unpaid and retries it: the key is the same', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'D');
    await age(batch, HOUR_MS);
    const { sentAt: first } = await readRecord(batch.ref, 1);
    await concludeAs(batch, 1, 'D', 'X');
    expect(await retry(batch)).toBe('ok');
    const again = await begun(batch, 1, { nonce: 'two' });
    expect(again).toMatchObject({ keyNumber: 1, keyFirstAt: first, resend: false });
    await settleAs(batch, 1, 'u', again, { nonce: 'two' });
    expect(await resend(batch)).toMatchObject({ refusal: 'key-old' });
  });

  test('and a refused order that is retried gets an unused key', async () => {
    const batch = await fed();
    await sendAs(batch, 1, 'R');
    await age(batch, HOUR_MS);
    expect(await retry(batch)).toBe('ok');
    const again = await begun(batch, 1, { nonce: 'two' });
    expect(again).toMatchObject({ keyNumber: 2, keyFirstAt: again.sentAt });
    await settleAs(batch, 1, 'u', again, { nonce: 'two' });
    expect(await resend(batch)).toMatchObject({ resend: true, keyNumber: 2 });
  });
});
