import { describe, expect, test } from 'vitest';
import { readBatch } from '../../../src/ledger/batches.js';
import type { Intent } from '../../../src/ledger/journal-line.js';
import { mergeAttempts } from '../../../src/ledger/merge.js';
import { parkedAttempts } from '../../../src/ledger/parked.js';
import { findSpent, PlanReader } from '../../../src/ledger/plan-store.js';
import { readRecord } from '../../../src/ledger/rows.js';
import { ledgerBench, START, sealed, type TestBatch } from '../../support/ledger.js';
import { begun, feedAll, sendAs } from '../../support/order-moves.js';
import { tieUp } from '../../support/tie-up.js';

const bench = ledgerBench();
const SESSION = '0000000000aa';

function attempt(batch: TestBatch, index: number, record: string | null, changes: Partial<Intent> = {}) {
  const intent: Intent = {
    realm: batch.books.realm,
    batch: batch.ref.id,
    no: batch.no,
    index,
    nonce: `nonce-${index}`,
    keyNumber: 1,
    attempts: 1,
    tries: 0,
    tokens: batch.row(index).order.tokens,
    seq: index,
    sentAt: START,
    firstSentAt: START,
    resend: false,
    ...changes,
  };
  const result =
    record === null
      ? null
      : { nonce: intent.nonce, record, dueInMs: 0, detail: '', requests: 1, limited: false };
  return { session: SESSION, intent, result };
}

function merge(
  batch: TestBatch,
  certainty: 'manual' | 'readback',
  ...attempts: ReturnType<typeof attempt>[]
) {
  const { books } = batch;
  return mergeAttempts({ books, plans: new PlanReader(books), certainty, underWay: new Set() }, attempts);
}

const SENT = START.toString(36);
const PAID = `P|1|1|0|200|105|${SENT}|1|a|`;

describe('roll-forward', () => {
  test('a ledger that is behind takes the journal’s state, and everything still ties', async () => {
    const batch = await sealed(await bench.books(), [{ reference: 'a' }, { reference: 'b' }, { tokens: 9 }]);
    await feedAll(batch);
    const merged = await merge(
      batch,
      'manual',
      attempt(batch, 1, PAID),
      attempt(batch, 2, `R|2|1|0|404||${SENT}|1|a|`),
      attempt(batch, 3, null),
    );
    expect(merged).toMatchObject({ moved: 3, parked: 0, unknown: [{ index: 3, code: 'D' }] });
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1, refused: 1, doubt: 1 });
    expect((await readBatch(batch.ref))?.state).toBe('done');
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test('asked twice it counts once', async () => {
    const batch = await sealed(await bench.books(), [{}, {}]);
    await feedAll(batch);
    await merge(batch, 'manual', attempt(batch, 1, PAID));
    expect(await merge(batch, 'manual', attempt(batch, 1, PAID))).toMatchObject({ moved: 0 });
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test('a ledger that stands at this very attempt is settled by its result', async () => {
    const batch = await sealed(await bench.books(), [{}]);
    await feedAll(batch);
    await begun(batch, 1);
    expect(await merge(batch, 'manual', attempt(batch, 1, PAID))).toMatchObject({ moved: 1 });
    expect((await readRecord(batch.ref, 1)).code).toBe('P');
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test('a ledger that is ahead stays as it is', async () => {
    const batch = await sealed(await bench.books(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'w');
    await sendAs(batch, 1, 'P', { nonce: 'second' });
    const late = await merge(batch, 'manual', attempt(batch, 1, null), attempt(batch, 1, `w|1|1|1||||||`));
    expect(late).toMatchObject({ moved: 0, unknown: [] });
    expect((await readRecord(batch.ref, 1)).code).toBe('P');
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test('under read-back an unknown holds its members again; where another holds one, it is a doubt', async () => {
    const batch = await sealed(await bench.books(), [
      { member: '7', to: '8' },
      { member: '8', to: '9' },
    ]);
    await feedAll(batch);
    const merged = await merge(batch, 'readback', attempt(batch, 1, null), attempt(batch, 2, null));
    expect(merged.unknown.map(({ code }) => code)).toEqual(['u', 'D']);
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test('payments of a batch that is not here are parked, and nothing of it is fed until they are back', async () => {
    const books = await bench.books();
    const elsewhere = await sealed(await bench.books(), [{}, {}], { id: 'forgotten' });
    const known = { ...elsewhere, books };
    await merge(known, 'manual', attempt(known, 1, PAID));
    expect(await parkedAttempts(books)).toMatchObject([
      { batch: 'forgotten', attempts: [{ session: SESSION }] },
    ]);
    const again = await sealed(books, [{}, {}], { id: 'forgotten' });
    expect(await feedAll(again)).toEqual([]);
  });

  test('a number that went to another file is not taken for the batch', async () => {
    const batch = await sealed(await bench.books(), [{}]);
    const merged = await merge(batch, 'manual', {
      ...attempt(batch, 1, PAID),
      intent: { ...attempt(batch, 1, PAID).intent, batch: 'b-other' as typeof batch.ref.id },
    });
    expect(merged).toMatchObject({ moved: 0, parked: 1 });
    expect((await readRecord(batch.ref, 1)).code).toBe('p');
  });

  test('takes the row of the batch it names, whatever the reader remembers under that number', async () => {
    const books = await bench.books();
    const plans = new PlanReader(books);
    const other = await sealed(books, [{ reference: 'of-the-other' }], { id: 'other' });
    expect(await plans.row(other.no, 1)).toMatchObject({ reference: 'of-the-other' });
    // The store goes back to a past in which the number belongs to another file.
    const { redis } = books.caller;
    await redis.del(...(await redis.keys(`${books.realm.replaceAll(/[{}]/g, '?')}*`)));
    const batch = await sealed(books, [{ reference: 'of-this' }], { id: 'this' });
    expect(batch.no).toBe(other.no);
    await feedAll(batch);
    const context = { books, plans, certainty: 'manual', underWay: new Set<string>() } as const;
    expect(await mergeAttempts(context, [attempt(batch, 1, PAID)])).toMatchObject({ moved: 1 });
    expect([...(await findSpent(books, ['of-the-other', 'of-this'])).keys()]).toEqual(['of-this']);
    expect(await mergeAttempts(context, [attempt(other, 1, PAID)])).toMatchObject({ parked: 1 });
    expect(await tieUp(books)).toEqual([]);
  });

  test('an attempt that no journal knows gives way to one that a journal does', async () => {
    const batch = await sealed(await bench.books(), [{}, {}, {}]);
    await feedAll(batch);
    for (const index of [1, 2, 3]) await begun(batch, index, { nonce: `never-sent-${index}` });
    const lost = attempt(batch, 2, null);
    const earlier = attempt(batch, 3, `w|1|0|0|||${SENT}|1||`, { attempts: 0 });
    const merged = await merge(batch, 'manual', attempt(batch, 1, PAID), lost, earlier);
    expect(merged).toMatchObject({ moved: 2 });
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1, doubt: 1, sending: 1 });
    expect(await tieUp(batch.books)).toEqual([]);
  });

  test('paid is paid, also where the ledger has counted further', async () => {
    const batch = await sealed(await bench.books(), [{}]);
    await feedAll(batch);
    await sendAs(batch, 1, 'w');
    await sendAs(batch, 1, 'D', { nonce: 'second' });
    await merge(batch, 'manual', attempt(batch, 1, PAID));
    expect((await readBatch(batch.ref))?.counts).toEqual({ paid: 1 });
    expect(await tieUp(batch.books)).toEqual([]);
  });
});
