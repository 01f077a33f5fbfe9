import { readFile } from 'node:fs/promises';
import { AlmonerError } from '../../core/errors/error.js';
import { batchId } from '../../core/ids.js';
import { awardedInPeriod, dropAwarding, noteAwarding } from '../../intake/rules/awarded.js';
import { hashOf } from '../../intake/rules/load-rule.js';
import type { RunMeta } from '../../intake/rules/run-record.js';
import { listRuns, putRun } from '../../intake/rules/run-store.js';
import { type BatchRef, batchNumber, readBatch } from '../../ledger/batches.js';
import type { Books } from '../../ledger/books.js';
import type { App, OpenRealm } from '../app.js';
import type { BatchStatus } from './batch-status.js';
import { enqueue, type PayRequest, payPlan } from './pay-file.js';
import { type Planned, refuseFaults } from './planning.js';
import { batchOfRun } from './rules-planning.js';
import { isOver } from './running.js';

/**
 * From a planned run to a batch. The run is marked with its batch before anything is enqueued: a process that
 * dies in between leaves a run that the next one finds and goes on with, and the batch of the same orders is
 * the same batch.
 */
export async function usablePlan(
  realm: OpenRealm,
  run: RunMeta,
  now: number,
  newAddress = false,
): Promise<Planned | null> {
  if (run.state === 'reading' || run.state === 'stopped')
    throw new AlmonerError(
      'ALM_RULE_PLAN_UNUSABLE',
      run.state === 'reading'
        ? `The facts of plan ${run.id} were never read to their end. Nothing was enqueued.`
        : `Plan ${run.id} was stopped: ${run.stops[0]?.message ?? ''} Nothing was enqueued.`,
      { details: run.stops.map(({ message }) => message) },
    );
  return batchOfRun(realm, run, now, newAddress);
}

export async function payRun(
  app: App,
  realm: OpenRealm,
  run: RunMeta,
  planned: Planned,
  request: Omit<PayRequest, 'batchId'>,
): Promise<BatchStatus> {
  return makingBatch(app, realm, run, planned, () =>
    payPlan(app, realm, planned, { ...request, batchId: null }),
  );
}

/** Hands the run to the workers. */
export async function importRun(
  app: App,
  realm: OpenRealm,
  run: RunMeta,
  planned: Planned,
): Promise<{ ref: BatchRef; existing: boolean }> {
  return makingBatch(app, realm, run, planned, () =>
    enqueue(app, realm, planned, { batchId: null, inOrder: false, mode: 'import', session: null }),
  );
}

async function makingBatch<T>(
  app: App,
  { books }: OpenRealm,
  run: RunMeta,
  { plan }: Planned,
  make: () => Promise<T>,
): Promise<T> {
  refuseFaults(plan, app.config.reportsFolder);
  const batch = plan.existing?.id ?? plan.batch;
  if (batch === null) throw new Error('only a whole plan becomes a batch');
  if (plan.existing === null) {
    await putRun(books, { ...run, batch });
    await noteAwarding(books, run, batch, BigInt(run.tokens), 'importing');
  }
  let made: T;
  try {
    if (plan.existing === null) await holdPeriod(books, run, batch);
    made = await make();
  } catch (error) {
    // Refused as a whole, for example because another run has spent a reference: there is nothing to go on with.
    if ((await batchNumber(books, batch)) === null) {
      await dropAwarding(books, run, batch);
      await putRun(books, { ...run, batch: null });
    }
    throw error;
  }
  await noteAwarding(books, run, batch, BigInt(run.tokens), 'sealed');
  await putRun(books, { ...run, batch, state: 'run' });
  return made;
}

/**
 * The plan held to the limits of its time; other runs may have paid since. Both of two runs at the same moment
 * have noted themselves before they look, so that at most one of them goes through.
 */
async function holdPeriod(books: Books, run: RunMeta, batch: string): Promise<void> {
  if (run.periodMax === null) return;
  const others = await awardedInPeriod(books, run.rule, run.period, batch);
  if (others + BigInt(run.tokens) <= BigInt(run.periodMax)) return;
  throw new AlmonerError(
    'ALM_RULE_OVER_LIMIT',
    `Plan ${run.id} pays ${run.tokens}, and other runs of the period hold ${others} since: together more than ${run.periodMax}. Nothing was enqueued.`,
    { next: 'Plan again with `almoner rules plan FILE`.' },
  );
}

/**
 * A run of this period that is not through: its enqueuing was cut off, or the process that worked it was. Its
 * references are spent, so a new plan would pass its members over; it has to be gone on with.
 */
export async function unfinishedRun(
  realm: OpenRealm,
  rule: string,
  period: string,
): Promise<RunMeta | undefined> {
  const { books } = realm;
  const runs = (await listRuns(books)).filter(
    (run) => run.rule === rule && run.period === period && run.batch !== null,
  );
  for (const run of runs.reverse()) {
    if (run.state === 'planned') return run;
    const id = batchId(run.batch ?? '');
    const no = await batchNumber(books, id);
    const batch = no === null ? undefined : await readBatch({ books, no, id });
    if (batch !== undefined && !isOver(batch) && batch.manifest.mode === 'run') return run;
  }
  return undefined;
}

/** True when the rule's file is no longer the one that the plan was made from. */
export async function isEdited(run: RunMeta): Promise<boolean> {
  const text = await readFile(run.file, 'utf8').catch(() => null);
  return text === null || hashOf(text) !== run.ruleHash;
}
