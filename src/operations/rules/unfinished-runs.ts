import type { ErrorCode } from '../../core/errors/catalogue.js';
import { batchId } from '../../core/ids.js';
import { type BatchView, planning, type RealmLedger, readBatch, reading } from '../../ledger/index.js';
import type { RunMeta } from '../../rules/run-record.js';
import { listRuns } from '../../rules/run-store.js';
import type { OpenRealm } from '../../runtime/app.js';
import { isOver } from '../batches/batch-status.js';
import { batchOfRun } from './plan.js';
import { takeBatchBack } from './run.js';

/**
 * A run of a rule's period that is not through: its enqueuing was cut off, or the process that worked it was. Its
 * references are spent, so a new plan would pass its members over; it has to be finished.
 */
export type UnfinishedRun = {
  readonly run: RunMeta;
  /** Null where it was cut off before the seal. */
  readonly batch: BatchView | null;
};

export async function unfinishedRun(
  { ledger }: OpenRealm,
  rule: string,
  period: string,
): Promise<UnfinishedRun | undefined> {
  const runs = (await listRuns(ledger)).filter(
    (run) => run.rule === rule && run.period === period && run.batch !== null && run.state !== 'cancelled',
  );
  for (const run of runs.reverse()) {
    const found = await batchOf(ledger, run);
    const batch = found?.recovered === true ? undefined : found;
    // One that was planned at the same time may have been sealed as the very same batch.
    if (batch === undefined ? run.state === 'planned' : !isOver(batch) && batch.manifest.mode === 'run')
      return { run, batch: batch ?? null };
  }
  return undefined;
}

/** The newest run of the period whose batch is not over, whoever works it. */
export async function openRunOf(
  ledger: RealmLedger,
  rule: string,
  period: string,
): Promise<{ readonly run: string; readonly batch: string } | undefined> {
  for (const { id, rule: of, period: when, batch } of (await listRuns(ledger)).reverse()) {
    if (of !== rule || when !== period || batch === null) continue;
    const view = await batchOf(ledger, { batch });
    if (view !== undefined && !isOver(view)) return { run: id, batch };
  }
  return undefined;
}

/** The batch that was made of a run, where the store has it. */
export async function batchOf(
  ledger: RealmLedger,
  { batch }: Pick<RunMeta, 'batch'>,
): Promise<BatchView | undefined> {
  if (batch === null) return undefined;
  const id = batchId(batch);
  const no = await reading.batchNumber(ledger, id);
  return no === null ? undefined : readBatch({ ledger, no, id });
}

/**
 * The run to go on with, and a word on those that were given up on the way: cut off before the seal, with orders that
 * can be no batch any more, because somebody has spent a reference of theirs otherwise, or lowered a cap. Gone on with,
 * they would be refused each time, and keep every other run from their period.
 */
export async function runToGoOnWith(
  realm: OpenRealm,
  rule: string,
  period: string,
  /** Why it is not to be finished, though it could be. */
  whyNotMeant: (run: RunMeta) => string | null = () => null,
): Promise<{ readonly open: UnfinishedRun | undefined; readonly givenUp: string | null }> {
  let givenUp: string | null = null;
  for (;;) {
    const open = await unfinishedRun(realm, rule, period);
    const why =
      open === undefined || open.batch !== null ? null : await whyGivenUp(realm, open.run, whyNotMeant);
    if (open === undefined || why === null) return { open, givenUp };
    await giveUp(realm, open.run);
    givenUp = `Run ${open.run.id} of ${period}, which was cut off before its batch was made, is given up: ${why} Nothing of it was enqueued.`;
  }
}

/** A person says whether these are to be paid; the run waits for that. */
const FOR_A_PERSON: readonly ErrorCode[] = ['ALM_PLAN_OTHER_ADDRESS', 'ALM_PLAN_MAYBE_FORGOTTEN'];

async function whyGivenUp(
  realm: OpenRealm,
  run: RunMeta,
  whyNotMeant: (run: RunMeta) => string | null,
): Promise<string | null> {
  // The rest of a batch that was recovered from journals is paid by that very batch.
  if ((await planning.recovered.batch(realm.ledger, batchId(run.batch ?? ''))) !== null) return null;
  const notMeant = whyNotMeant(run);
  if (notMeant !== null) return notMeant;
  const planned = await batchOfRun(realm, run, Date.now());
  const faults = planned?.plan.findings.faults() ?? [];
  return faults.find(({ code }) => !FOR_A_PERSON.includes(code))?.message ?? null;
}

async function giveUp({ ledger }: OpenRealm, run: RunMeta): Promise<void> {
  const id = batchId(run.batch ?? '');
  const no = await reading.batchNumber(ledger, id);
  if (no !== null) await planning.imports.release({ ledger, no, id });
  await takeBatchBack(ledger, run);
}
