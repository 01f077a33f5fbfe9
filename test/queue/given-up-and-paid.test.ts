import { expect, test } from 'vitest';
import { readRecord } from '../../src/ledger/read/rows.js';
import { acceptMissing } from '../../src/ledger/sessions/accept-missing.js';
import { bareCsv } from '../support/ledger/csv-plans.js';
import { mergeContext } from '../support/ledger/journaled-attempt.js';
import { ledgersOnRedis, type TestBatch } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs } from '../support/ledger/order-moves.js';
import { give, mended, onTwoMachines, saidTwice } from '../support/machines/forgotten-pasts.js';
import type { Sender } from '../support/machines/machines.js';

/** Without any restore: a frozen machine is given up, its order is called unpaid, and then its answer arrives. */
const bench = ledgersOnRedis();

async function givenUp() {
  const { ledger, first, a, b, die } = await onTwoMachines(bench, bareCsv(1));
  b.works(first);
  await b.begin(1);
  expect((await readRecord(first.ref, 1)).code).toBe('s');
  await acceptMissing(mergeContext(first, 'manual'), b.session.id, { who: 'ada', at: Date.now() });
  expect((await readRecord(first.ref, 1)).code).toBe('D');
  await concludeAs(first, 1, 'D', 'X');
  for (const one of [a, a]) await one.recover();
  return { ledger, first, a, b, die };
}

async function wakes(b: Sender, a: Sender, first: TestBatch): Promise<void> {
  b.works(first);
  await b.finish('paid');
  for (const one of [b, a, b, a]) await one.recover();
  expect((await readRecord(first.ref, 1)).code).toBe('P');
}

test('a waiting stand-in is not sent', async () => {
  const { ledger, first, a, b, die } = await givenUp();
  const second = await give(ledger, mended(first, 6));
  await wakes(b, a, first);
  const sent = await a.send(second, 1, 'paid');
  const said = (await saidTwice(first, second)).length;
  await die();
  expect({ sent, said }).toEqual({ sent: false, said: 0 });
});

test('a paid stand-in is reported as a second payment', async () => {
  const { ledger, first, a, b, die } = await givenUp();
  const second = await give(ledger, mended(first, 6));
  const sent = await a.send(second, 1, 'paid');
  await wakes(b, a, first);
  const said = (await saidTwice(first, second)).length;
  await die();
  expect({ sent, said }).toEqual({ sent: true, said: 1 });
});

test('an equal row that waits in another file is held for a person', async () => {
  const { ledger, first, a, b, die } = await givenUp();
  const second = await give(ledger, bareCsv(1, 3));
  await wakes(b, a, first);
  const sent = await a.send(second, 1, 'paid');
  await die();
  expect({ sent }).toEqual({ sent: false });
});
