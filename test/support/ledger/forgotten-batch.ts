import type { BatchId } from '../../../src/core/ids.js';
import { readFence } from '../../../src/ledger/read/fence.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import type { BatchRef, RealmLedger } from '../../../src/ledger/realm-ledger.js';
import { arm } from '../../../src/ledger/sessions/fence.js';
import { mergeTidings, tidingsFor } from '../../../src/ledger/sessions/merge.js';
import { importPlan } from '../../../src/planning/store-plan.js';
import { planCsv } from './csv-plans.js';
import { importing } from './importing.js';
import { type attemptOf, mergeContext } from './journaled-attempt.js';
import { type LedgersOnRedis, START, type TestBatch, testBatch } from './ledgers-on-redis.js';

/** A batch that the store has forgotten, and journals that hold attempts of it. */

/** Imports the batch into one ledger and returns it as seen from an empty ledger, like a store after a rollback. */
export async function forgotten(
  bench: LedgersOnRedis,
  csv: string,
  id: BatchId | null = null,
): Promise<TestBatch> {
  const past = await bench.ledger();
  const plan = await planCsv(past, csv, id === null ? {} : { batchId: id });
  const { ref } = await importPlan(plan, importing(past, { now: START, batchId: id }));
  const rows = await new PlanReader(past).block(ref.no, 0);
  return { ...testBatch(past, ref.no, ref.id, rows), ledger: await bench.ledger() };
}

/** Merges the attempts as if a journal held them, and opens the ledger again. */
export async function mergeAttempts(
  batch: TestBatch,
  ...attempts: readonly ReturnType<typeof attemptOf>[]
): Promise<void> {
  await mergeTidings(mergeContext(batch, 'manual'), await tidingsFor(batch.ledger, attempts));
  const { run } = await readFence(batch.ledger);
  await arm(batch.ledger, run, 0);
}

/** The batch under its current number: an import after a rollback may give it another one. */
export async function placeOf({ ledger, ref: { id } }: TestBatch): Promise<BatchRef> {
  const no = (await ledger.scripts.redis.hget(`${ledger.keyPrefix}:batches`, id)) ?? '';
  return { ledger, no, id };
}

/** Returns the ledger of a process in which `first` runs right before its first call of a script. */
export function happensBefore(
  ledger: RealmLedger,
  script: string,
  first: () => Promise<unknown>,
): RealmLedger {
  let done = false;
  const call: typeof ledger.scripts.script = async (...args) => {
    if (args[0] === script && !done) {
      done = true;
      await first();
    }
    return ledger.scripts.script(...args);
  };
  const scripts = new Proxy(ledger.scripts, {
    get(target, name) {
      if (name === 'script') return call;
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...ledger, scripts };
}
