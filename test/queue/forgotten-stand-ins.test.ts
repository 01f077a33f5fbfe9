import { expect, test } from 'vitest';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { releaseImport } from '../../src/ledger/moves/release-import.js';
import { cancelBatch } from '../../src/ledger/moves/steer.js';
import { readBatch } from '../../src/ledger/read/batches.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { importPlan, putBlocks } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, planCsv, putPlan } from '../support/ledger/csv-plans.js';
import { importing } from '../support/ledger/importing.js';
import { ledgersOnRedis, START } from '../support/ledger/ledgers-on-redis.js';
import { audit, concludeAs, feedAll } from '../support/ledger/order-moves.js';
import { tieUp } from '../support/ledger/tie-up.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  mended,
  onOneMachine,
  onTwoMachines,
  placed,
  retryFirst,
} from '../support/machines/forgotten-pasts.js';

/** A corrected row was paid in place of an order, and the store forgot that. The order must not be paid as well. */
const bench = ledgersOnRedis();
const REPLACED = ['ALM_ROW_ORDER_REPLACED'];

test('the file of the order is imported again: only the rest of it is paid', async () => {
  const { ledger, sender, again } = await onOneMachine(bench, bareCsv(77));
  const restore = await photograph(ledger);
  const first = await give(ledger, bareCsv(1, 2, 3));
  await sender.send(first, 2, 'paid');
  await cancelBatch(first.ref, audit('cancelled'));
  await sender.send(await give(ledger, mended(first, 6)), 1, 'paid');
  await sender.die();
  await restore();
  const { sender: next } = await again();
  expect(await tieUp(ledger)).toEqual([]);
  const file = await give(ledger, bareCsv(1, 2, 3));
  expect([await next.send(file, 1, 'paid'), await next.send(file, 3, 'paid')]).toEqual([false, true]);
  expect((await readBatch(file.ref))?.state).toBe('done');
  expect(await tieUp(ledger)).toEqual([]);
  await next.die();
});

test('the order is not paid even if nothing of its file was ever sent', async () => {
  const { ledger, sender, again } = await onOneMachine(bench, bareCsv(77));
  const restore = await photograph(ledger);
  const first = await give(ledger, bareCsv(1));
  await cancelBatch(first.ref, audit('cancelled'));
  await sender.send(await give(ledger, mended(first, 6)), 1, 'paid');
  await sender.die();
  await restore();
  const { sender: next } = await again();
  const file = await putPlan(ledger, await planCsv(ledger, bareCsv(1)));
  await feedAll(file);
  expect(await next.send(file, 1, 'paid')).toBe(false);
  await next.die();
});

test('the order is a doubt again and is called unpaid again: it is not paid', async () => {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1));
  await sender.send(first, 1, 'lost-before');
  const restore = await photograph(ledger);
  await concludeAs(first, 1, 'D', 'X');
  await sender.send(await give(ledger, mended(first, 6)), 1, 'paid');
  await sender.die();
  await restore();
  const { sender: next } = await again();
  await concludeAs(first, 1, 'D', 'X');
  expect(faultCodes(await planCsv(ledger, mended(first, 7)))).toEqual(REPLACED);
  expect(await retryFirst(first)).not.toBe('ok');
  await next.die();
});

test('the order was an invalid row: it is not paid', async () => {
  const csv = 'member,tokens\nbad,5\n2,5\n';
  const { ledger, first, sender, again } = await onOneMachine(bench, csv, 'manual', { skipInvalid: true });
  const restore = await photograph(ledger);
  await sender.send(await give(ledger, mended(first, 5)), 1, 'paid');
  await sender.die();
  await restore();
  await (await again()).sender.die();
  expect(faultCodes(await planCsv(ledger, mended(first, 6)))).toEqual(REPLACED);
});

test('the order returns after the row that stands in for it: it is not paid', async () => {
  const { ledger, a, b, die } = await onTwoMachines(bench, bareCsv(77));
  const restore = await photograph(ledger);
  const first = await give(ledger, bareCsv(1));
  await a.send(first, 1, 'refused');
  await b.send(await give(ledger, mended(first, 6)), 1, 'paid');
  await restore();
  for (const one of [b, a, b]) await one.recover();
  expect(await retryFirst(await placed(ledger, first))).not.toBe('ok');
  await die();
});

/** Orders 1 and 2 were refused. The first row of the file that stands in for both was paid, and forgotten. */
async function halfPaid() {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1, 2));
  await sender.send(first, 1, 'refused');
  await sender.send(first, 2, 'refused');
  const restore = await photograph(ledger);
  const csv = `${mended(first, 6)}2,6,${first.ref.id}-2\n`;
  const second = await give(ledger, csv);
  await sender.send(second, 1, 'paid');
  await sender.die();
  await restore();
  return { ledger, first, second, csv, again };
}

test('an import of its file is given up: the order stays replaced', async () => {
  const { ledger, first, second, csv, again } = await halfPaid();
  const { sender } = await again();
  const plan = await planCsv(ledger, csv);
  const importer = newNonce();
  const wanted = { content: plan.content ?? '', id: second.ref.id, importer, createdAt: START };
  const opened = await openBatch(ledger, wanted);
  expect(await putBlocks(plan, { ledger, importer, onProgress: () => {} }, opened)).toBe('ok');
  await releaseImport((await placed(ledger, second)).ref);
  expect(await retryFirst(first)).not.toBe('ok');
  await sender.die();
});

test('another corrected row is being imported when the paid one returns: it is not sealed', async () => {
  const { ledger, first, again } = await halfPaid();
  const plan = await planCsv(ledger, mended(first, 7));
  const join = async () => {
    await (await again()).sender.die();
    return true;
  };
  const importing1 = importPlan(plan, importing(ledger, { now: START, join }));
  await expect(importing1).rejects.toMatchObject({ code: REPLACED[0] });
  expect(await retryFirst(first)).not.toBe('ok');
});
