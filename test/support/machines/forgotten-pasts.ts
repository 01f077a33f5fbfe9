import { expect, onTestFinished } from 'vitest';
import type { Certainty } from '../../../src/core/profile.js';
import { archiveBatch } from '../../../src/ledger/moves/archive-batch.js';
import { readBatch } from '../../../src/ledger/read/batches.js';
import type { RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { newNonce } from '../../../src/ledger/script-client.js';
import { PaidSince } from '../../../src/planning/paid-before/looks-paid.js';
import { bareCsv, faultCodes, planCsv, putPlan } from '../ledger/csv-plans.js';
import { type LedgersOnRedis, type TestBatch, testBatch } from '../ledger/ledgers-on-redis.js';
import { feedAll } from '../ledger/order-moves.js';
import { photograph } from '../ledger/unreliable-store.js';
import { tempFolder } from '../temp-folder.js';
import { Machines, type Sender } from './machines.js';
import type { Fate } from './played-realm.js';

/** Paid files and a store that is rolled back: helpers for what senders and people do afterwards. */

type Changes = Parameters<typeof planCsv>[2];

/** Plans the file without faults, imports it and feeds it. */
export async function give(ledger: RealmLedger, csv: string, changes: Changes = {}): Promise<TestBatch> {
  const plan = await planCsv(ledger, csv, changes);
  expect(faultCodes(plan)).toEqual([]);
  const batch = await putPlan(ledger, plan);
  await feedAll(batch);
  return batch;
}

/** A row that stands in for order 1 of the batch with another amount. */
export function mended({ ref }: TestBatch, tokens: number): string {
  return `member,tokens,almoner_order\n1,${tokens},${ref.id}-1\n`;
}

/** A file with one referenced order, and the same file with one more row. */
export const ONE_ROW = 'member,tokens,reference\n1,5,r1\n';
export const ROW_AGAIN = `${ONE_ROW}2,5,r2\n`;

/** The file that undoes order 1 of the batch. */
export function undoOf({ ref }: TestBatch, tokens = 5): string {
  return `member,op,tokens,reference\n1,debit,${tokens},undo:${ref.id}-1\n`;
}

/** Retries order 1 as `dead retry` does. */
export function retryFirst(batch: TestBatch) {
  return retryAt(batch, 1);
}

export function retryAt(batch: TestBatch, index: number) {
  const letter = { index, row: batch.row(index) };
  const by = { who: 'ada', why: null, at: Date.now(), nonce: newNonce() };
  return new PaidSince(batch.ref, [letter]).retry(letter, by);
}

/** The same batch under its current number. */
export async function placed(ledger: RealmLedger, { ref, rows }: TestBatch): Promise<TestBatch> {
  const no = await ledger.scripts.redis.hget(`${ledger.keyPrefix}:batches`, ref.id);
  return testBatch(ledger, no ?? '', ref.id, rows);
}

/** One file and one machine; `again` restarts the machine and recovers. */
export async function onOneMachine(
  bench: LedgersOnRedis,
  csv: string,
  certainty: Certainty = 'manual',
  changes: Changes = {},
) {
  const ledger = await bench.ledger();
  const first = await give(ledger, csv, changes);
  const folder = await tempFolder();
  const machines = new Machines(bench.redis(), first, certainty);
  const started = async () => {
    const machine = await machines.start(folder);
    expect(await machine.sender.recover()).toBe(true);
    return machine;
  };
  const { sender, ledger: own } = await started();
  return { ledger, first, sender, own, again: started, machines, folder };
}

/** One file and two machines that know each other. */
export async function onTwoMachines(bench: LedgersOnRedis, csv: string) {
  const ledger = await bench.ledger();
  const first = await give(ledger, csv);
  const machines = new Machines(bench.redis(), first, 'manual');
  const folder = await tempFolder();
  const { sender: a } = await machines.start(folder);
  const { sender: b } = await machines.start(await tempFolder());
  for (const one of [a, b, a, b]) await one.recover();
  const die = () => Promise.all([a.die(), b.die()]);
  return { ledger, first, a, b, die, machines, folder };
}

/** Adds a second machine. `comeBack` brings back its journal after the first machine, `next`, has recovered alone. */
export async function lateMachine(machines: Machines, sender: Sender) {
  const folder = await tempFolder();
  const { sender: late } = await machines.start(folder);
  for (const one of [late, sender, late]) await one.recover();
  const comeBack = async (next: Sender, archiveFolder: string | null = null): Promise<Sender> => {
    const { sender: back, ledger } = await machines.start(folder);
    if (archiveFolder !== null) readsFrom(archiveFolder, ledger);
    for (const one of [back, next, back, next]) await one.recover();
    return back;
  };
  return { late, comeBack };
}

/**
 * The realm refused order 1 of a file. After the backup a second machine sends a row that stands in for it. Then the
 * store is rolled back, and the first machine recovers alone. `more` runs before the rollback.
 */
export async function lateStandIn<T = void>(
  bench: LedgersOnRedis,
  fate: Fate,
  certainty: Certainty = 'manual',
  more?: (late: Sender, one: TestBatch) => Promise<T>,
) {
  const { ledger, first, sender, again, machines } = await onOneMachine(bench, bareCsv(1), certainty);
  await sender.send(first, 1, 'refused');
  const restore = await photograph(ledger);
  const { late, comeBack } = await lateMachine(machines, sender);
  const one = await give(ledger, mended(first, 6));
  expect(await late.send(one, 1, fate)).toBe(true);
  const made = await more?.(late, one);
  await sender.die();
  await late.die();
  await restore();
  const { sender: next, ledger: own } = await again();
  return { ledger, first, one, next, own, comeBack, made };
}

/** The notes on the batches that report a payment made twice. */
export async function saidTwice(...batches: readonly TestBatch[]): Promise<string[]> {
  const views = await Promise.all(
    batches.map(async (batch) => readBatch((await placed(batch.ledger, batch)).ref)),
  );
  return views.flatMap((view) => view?.notes ?? []).filter((note) => note.includes('twice'));
}

/** Archives the batch in a folder that these ledgers read. */
export async function archived(batch: TestBatch, ...ledgers: readonly RealmLedger[]): Promise<string> {
  const folder = await tempFolder();
  readsFrom(folder, batch.ledger, ...ledgers);
  expect(await archiveBatch((await placed(batch.ledger, batch)).ref, folder)).toBeDefined();
  return folder;
}

function readsFrom(archiveFolder: string, ...ledgers: readonly RealmLedger[]): void {
  for (const { scripts } of ledgers) {
    onTestFinished(() => void Object.assign(scripts, { archiveFolder: null }));
    Object.assign(scripts, { archiveFolder });
  }
}
