import { expect, test } from 'vitest';
import { beginSending } from '../../src/ledger/moves/begin-sending.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { mergeAttempts } from '../support/ledger/forgotten-batch.js';
import { attemptOf, PAID } from '../support/ledger/journaled-attempt.js';
import { joinAs, ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs, WHY } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import { give, mended, onOneMachine, retryFirst } from '../support/machines/forgotten-pasts.js';

/** Chooses which of several equal orders is held for a restored payment. */
const bench = ledgersOnRedis();

/** After the backup the file is cancelled and its row is paid in a larger file; then the store is rolled back. */
async function paidInAnotherFile(
  { ledger, sender, again }: Pick<Awaited<ReturnType<typeof onOneMachine>>, 'ledger' | 'sender' | 'again'>,
  cancelled: TestBatch,
) {
  const restore = await photograph(ledger);
  await cancelBatch(cancelled.ref, audit('cancelled'));
  const wider = await give(ledger, bareCsv(1, 2), { again: 'november' });
  expect(await sender.send(wider, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  return (await again()).sender;
}

test('an order with a reference does not use up the hold of an equal order without one', async () => {
  const {
    ledger,
    first: october,
    sender,
    again,
  } = await onOneMachine(bench, 'member,tokens,reference\n1,5,oct\n');
  const november = await give(ledger, bareCsv(1), { again: 'november' });
  const next = await paidInAnotherFile({ ledger, sender, again }, november);
  for (const batch of [october, november]) expect(await next.send(batch, 1, 'paid')).toBe(false);
  await next.die();
});

test('equal rows of two files are both held, because only a person knows which was paid', async () => {
  const { ledger, first: october, sender, again } = await onOneMachine(bench, bareCsv(1));
  const november = await give(ledger, bareCsv(1), { again: 'november' });
  const next = await paidInAnotherFile({ ledger, sender, again }, november);
  for (const batch of [october, november]) expect(await next.send(batch, 1, 'paid')).toBe(false);
  const rest = await give(ledger, mended(october, 5), { again: 'october' });
  expect(await next.send(rest, 1, 'paid')).toBe(true);
  expect(await next.send(november, 1, 'paid')).toBe(false);
  await next.die();
});

const TWO_ROWS = 'member,tokens,reference\n1,5,%s\n1,5,\n';

test.each([
  ['has a reference', 'oct', 'manual'],
  ['is unknown', '', 'idempotent'],
] as const)(
  'a row that %s does not use up the hold of an equal row of its file',
  async (_, reference, certainty) => {
    const csv = TWO_ROWS.replace('%s', reference);
    const { ledger, first, sender, again } = await onOneMachine(bench, csv, certainty);
    if (certainty === 'idempotent') await sender.send(first, 1, 'lost-before');
    const next = await paidInAnotherFile({ ledger, sender, again }, first);
    for (const index of [1, 2]) expect(await next.send(first, index, 'paid')).toBe(false);
    await next.die();
  },
);

const handles = (...rows: string[]) => `handle,tokens\n${rows.join('\n')}\n`;

async function beginWithTable(batch: TestBatch) {
  await joinAs(batch.ledger, 'worker');
  const table = (await readBatch(batch.ref))?.manifest.table ?? null;
  expect(table).not.toBeNull();
  return beginSending(
    batch.ledger,
    { no: batch.no, index: 1 },
    {
      manifest: { batch: batch.ref.id, again: null, table },
      nonce: `nonce-${batch.ref.id}`,
      row: batch.row(1),
      terms: { certainty: 'manual', currency: null, keyLifetimeMs: 60_000 },
      dayCap: null,
      resend: null,
      before: null,
      capReason: { ...WHY, code: 'ALM_BATCH_DAY_CAP' },
      hold: '',
    },
  );
}

test.each([
  ['october', 'november'],
  ['november', 'october'],
] as const)(
  'a row of an older table does not use up the hold of the exact order (%s first)',
  async (...order) => {
    const past = await bench.ledger();
    const corrected = { members: 'member,handle\n2,bob\n3,eve\n', again: 'november' };
    const wider = await give(past, handles('bob,5', 'eve,5'), corrected);
    const ledger = await bench.ledger();
    const october = await give(ledger, handles('bob,5'), { members: 'member,handle\n1,bob\n' });
    const november = await give(ledger, handles('bob,5'), corrected);
    expect([october.row(1).order.member, november.row(1).order.member]).toEqual(['1', '2']);
    const forgotten = { ...wider, ledger };
    await mergeAttempts(forgotten, attemptOf(forgotten, 1, PAID, { nonce: 'past', lookedUp: ['bob', ''] }));
    for (const name of order) await beginWithTable({ october, november }[name]);
    expect((await readRecord(november.ref, 1)).code).toBe('X');
  },
);

test('an order held while unknown is sent after a person calls it unpaid and retries it', async () => {
  const { ledger, first, sender, again } = await onOneMachine(
    bench,
    'member,tokens,reference\n1,5,x\n',
    'idempotent',
  );
  await sender.send(first, 1, 'lost-before');
  const restore = await photograph(ledger);
  const second = await give(ledger, bareCsv(1, 2), { again: 'other' });
  expect(await sender.send(second, 1, 'paid')).toBe(true);
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect(await next.send(first, 1, 'paid')).toBe(false);
  await concludeAs(first, 1, 'D', 'X');
  expect(await retryFirst(first)).toBe('ok');
  expect(await next.send(first, 1, 'paid')).toBe(true);
  await next.die();
});
