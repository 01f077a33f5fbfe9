import { expect, test } from 'vitest';
import { batchId } from '../../src/core/ids.js';
import { openBatch } from '../../src/ledger/moves/import-batch.js';
import { releaseImport } from '../../src/ledger/moves/release-import.js';
import { PlanReader } from '../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../src/ledger/read/rows.js';
import type { BatchRef, RealmLedger } from '../../src/ledger/realm-ledger.js';
import { newNonce } from '../../src/ledger/script-client.js';
import { importPlan, putBlocks } from '../../src/planning/store-plan.js';
import { bareCsv, faultCodes, planCsv } from '../support/ledger/csv-plans.js';
import { importing } from '../support/ledger/importing.js';
import { ledgersOnRedis, START, testBatch } from '../support/ledger/ledgers-on-redis.js';
import { concludeAs, feedAll } from '../support/ledger/order-moves.js';
import { photograph } from '../support/ledger/unreliable-store.js';
import {
  give,
  mended,
  onOneMachine,
  onTwoMachines,
  placed,
  saidTwice,
} from '../support/machines/forgotten-pasts.js';

/** A debt no longer counts rows of an import that was given up, nor orders that were undone. */
const bench = ledgersOnRedis();

type Changes = NonNullable<Parameters<typeof planCsv>[2]>;

/** An order was refused, and so was its stand-in, which the store has forgotten. */
async function refusedStandIn(isForgotten = true) {
  const { ledger, first, sender, again } = await onOneMachine(bench, bareCsv(1));
  await sender.send(first, 1, 'refused');
  const restore = await photograph(ledger);
  const one = await give(ledger, mended(first, 6));
  expect(await sender.send(one, 1, 'refused')).toBe(true);
  await sender.die();
  if (isForgotten) await restore();
  const { sender: next } = await again();
  const stand = await placed(ledger, one);
  expect((await readRecord(stand.ref, 1)).code).toBe('R');
  return { ledger, first, stand, next };
}

async function halfImported(ledger: RealmLedger, csv: string, changes: Changes = {}): Promise<BatchRef> {
  const plan = await planCsv(ledger, csv, changes);
  const importer = newNonce();
  const id = changes.batchId ?? plan.batch ?? batchId('none');
  const wanted = { content: plan.content ?? '', id, importer, createdAt: START };
  const opened = await openBatch(ledger, wanted);
  expect(await putBlocks(plan, { ledger, importer, onProgress: () => {} }, opened)).toBe('ok');
  return { ledger, no: opened.no, id: opened.id };
}

test.each([false, true])(
  'rows of an import that was given up do not block other orders under its name (forgotten: %s)',
  async (isForgotten) => {
    const { ledger, stand, next } = await refusedStandIn(isForgotten);
    const november = batchId('november');
    const ref = await halfImported(ledger, mended(stand, 7), { batchId: november });
    await releaseImport(ref);
    const mend = await give(ledger, mended(stand, 8));
    expect(await next.send(mend, 1, 'paid')).toBe(true);
    const plan = await planCsv(ledger, bareCsv(70, 80), { batchId: november });
    expect(faultCodes(plan)).toEqual([]);
    const other = await importPlan(plan, importing(ledger, { now: START, batchId: november }));
    const batch = testBatch(
      ledger,
      other.ref.no,
      other.ref.id,
      await new PlanReader(ledger).block(other.ref.no, 0),
    );
    await feedAll(batch);
    const sent = [await next.send(batch, 1, 'paid'), await next.send(batch, 2, 'paid')];
    await next.die();
    expect(sent).toEqual([true, true]);
  },
);

test.each([false, true])(
  'rows of an import that was given up do not block the same file without its bad row (forgotten: %s)',
  async (isForgotten) => {
    const { ledger, stand, next } = await refusedStandIn(isForgotten);
    const head = 'member,tokens,almoner_order\n';
    const rows = `1,7,${stand.ref.id}-1\n90,5,\n`;
    const ref = await halfImported(ledger, `${head}91,0,\n${rows}`, { skipInvalid: true });
    await releaseImport(ref);
    const file = await give(ledger, `${head}${rows}`);
    const sent = [await next.send(file, 1, 'paid'), await next.send(file, 2, 'paid')];
    await next.die();
    expect(sent).toEqual([true, true]);
  },
);

test.each([false, true])(
  'a dead import does not block another row for the same order (forgotten: %s)',
  async (isForgotten) => {
    const { ledger, stand, next } = await refusedStandIn(isForgotten);
    await halfImported(ledger, mended(stand, 7));
    const plan = await planCsv(ledger, mended(stand, 9));
    const codes = faultCodes(plan);
    await next.die();
    expect(codes).toEqual([]);
  },
);

test.each(['restored', 'not'])(
  'a doubt that was called paid, undone and paid again under its reference is no second payment (%s)',
  async (how) => {
    const { ledger, first, sender, again } = await onOneMachine(bench, 'member,tokens,reference\n1,5,r1\n');
    await sender.send(first, 1, 'lost-after');
    const restore = await photograph(ledger);
    await concludeAs(first, 1, 'D', 'P');
    const undo = await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${first.ref.id}-1\n`);
    expect(await sender.send(undo, 1, 'paid')).toBe(true);
    const later = await give(ledger, 'member,tokens,reference\n1,5,r1\n2,5,r2\n');
    expect(await sender.send(later, 1, 'paid')).toBe(true);
    await sender.die();
    if (how === 'restored') await restore();
    const { sender: next } = await again();
    if (how === 'restored') await concludeAs(first, 1, 'D', 'P');
    const said = await saidTwice(first, undo, later);
    await next.die();
    expect(said).toEqual([]);
  },
);

test.each([
  ['a', 'b'],
  ['b', 'a'],
])(
  'an order that was undone and paid again under its reference is no second payment (%s first)',
  async (one) => {
    const { ledger, first, a, b, die } = await onTwoMachines(bench, 'member,tokens,reference\n1,5,r1\n');
    expect(await a.send(first, 1, 'paid')).toBe(true);
    const restore = await photograph(ledger);
    const undo = await give(ledger, `member,op,tokens,reference\n1,debit,5,undo:${first.ref.id}-1\n`);
    expect(await a.send(undo, 1, 'paid')).toBe(true);
    const again = await give(ledger, 'member,tokens,reference\n1,5,r1\n2,5,r2\n');
    expect(await b.send(again, 1, 'paid')).toBe(true);
    await restore();
    for (const each of one === 'a' ? [a, b, a, b] : [b, a, b, a]) await each.recover();
    const said = await saidTwice(first, undo, again);
    await die();
    expect(said).toEqual([]);
  },
);
