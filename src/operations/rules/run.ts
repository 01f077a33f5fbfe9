import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { ConcurrencyLimit } from '../../core/concurrency-limit.js';
import { AlmonerError, arrived, type Carried } from '../../core/errors/error.js';
import { batchId } from '../../core/ids.js';
import type { Person } from '../../core/people.js';
import { accountName } from '../../core/reference.js';
import { type BatchRef, type planning, type RealmLedger, reading } from '../../ledger/index.js';
import type { Imported } from '../../planning/store-plan.js';
import { type LastRun, lastRunOf, lastRuns, scheduledRules } from '../../rules/approvals.js';
import { hashOf } from '../../rules/load-rule.js';
import { missedOf } from '../../rules/missed.js';
import type { RunMeta } from '../../rules/run-record.js';
import { changeRun, putRun } from '../../rules/run-store.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import type { Config } from '../../runtime/config/config.js';
import { type Planned, refuseFaults } from '../pay/plan-file.js';
import { type PayRequest, payPlan } from '../pay/run-batch.js';
import { storeBatch } from '../pay/store-batch.js';
import type { BatchStatus } from '../views/batch.js';
import { batchOfRun, type Meant } from './plan.js';

/**
 * From a planned run to a batch. The run is marked with its batch and number before anything is enqueued: a process
 * that dies in between leaves a run that the next one finds and goes on with, and the batch of the same orders is
 * the same batch. The seal calls it run, and holds it to what the period may pay.
 */
export async function usablePlan(
  realm: OpenRealm,
  run: RunMeta,
  now: number,
  meant: Meant = {},
): Promise<Planned | null> {
  refuseUnusable(run);
  return batchOfRun(realm, run, now, meant);
}

function refuseUnusable(run: RunMeta): void {
  const { id, state, stops } = run;
  if (state === 'planned' || state === 'run') return;
  const why = {
    reading: `The facts of plan ${id} were never read to their end.`,
    stopped: `Plan ${id} was stopped: ${stops[0]?.message ?? ''}`,
    cancelled: `Plan ${id} was cancelled, with the import of its batch ${run.batch}.`,
  }[state];
  throw new AlmonerError('ALM_RULE_PLAN_UNUSABLE', `${why} Nothing was enqueued.`, {
    details: stops.map(({ message }) => message),
  });
}

type PlannedRun = { readonly run: RunMeta; readonly planned: Planned };

export async function payRun(
  app: App,
  realm: OpenRealm,
  { run, planned }: PlannedRun,
  request: PayRequest,
): Promise<BatchStatus> {
  return makingBatch(app, realm, { run, planned, last: null }, (sealed) =>
    payPlan(app, realm, planned, { ...request, run: sealed }),
  );
}

/** Why a run is made into a batch now. */
type Occasion = {
  /** What the seal notes of the schedule's time, and only one seal can; null where a person runs it. */
  readonly last?: LastRun | null;
  readonly why?: string | null;
};

/** Hands the run to the workers. */
export async function importRun(
  app: App,
  realm: OpenRealm,
  { run, planned }: PlannedRun,
  { last = null, why = null }: Occasion = {},
): Promise<Imported> {
  return makingBatch(app, realm, { run, planned, last }, (sealed) =>
    storeBatch(app, realm, planned, { batchId: null, inOrder: false, session: null, run: sealed, why }),
  );
}

/** The batch of a planned run, handed to the workers; null where nobody gets anything. */
export async function makeBatch(
  app: App,
  realm: OpenRealm,
  run: RunMeta,
  { now, ...occasion }: Occasion & { readonly now: number },
): Promise<Imported | null> {
  const planned = await usablePlan(realm, run, now);
  return planned === null ? null : importRun(app, realm, { run, planned }, occasion);
}

async function makingBatch<T extends { existing: boolean }>(
  app: App,
  { ledger }: OpenRealm,
  { run, planned: { plan }, last: scheduled }: PlannedRun & { readonly last: LastRun | null },
  make: (sealed: planning.SealedRun) => Promise<T>,
): Promise<T> {
  refuseFaults(plan, app.config.reportsFolder);
  const batch = plan.existing?.id ?? plan.batch;
  if (batch === null) throw new Error('only a whole plan becomes a batch');
  const begun: RunMeta = { ...run, batch, number: plan.run };
  const record: RunMeta = { ...begun, state: 'run' };
  if (plan.existing?.view == null) {
    // As it stands now: a person may have cancelled it since it was read, or another process made its batch.
    const stands = await changeRun(ledger, run.id, (known) =>
      known === null || known.state === 'planned' ? begun : null,
    );
    refuseUnusable(stands ?? begun);
  }
  // A schedule's run that was cut off may be finished by hand; its time is dealt with then as well.
  const last =
    scheduled ??
    (run.scheduled
      ? lastRunOf({ at: run.at, period: run.period, result: 'enqueued', run: run.id }, Date.now())
      : null);
  const note = last === null ? null : JSON.stringify({ ...last, batch });
  let made: T;
  try {
    made = await make({
      account: accountName(run.rule, run.period),
      limit: run.periodMax,
      number: run.scheduled ? null : plan.run,
      id: run.id,
      record: JSON.stringify(record),
      schedule:
        note === null
          ? null
          : {
              rule: run.rule,
              hash: run.ruleHash,
              audience: run.audienceHash,
              preparer: await preparerOf(ledger, run.rule),
              last: note,
              missed: await missedBefore(ledger, run),
              only: scheduled !== null,
            },
    });
  } catch (error) {
    await takeBatchBack(ledger, begun);
    throw error;
  }
  if (made.existing) await putRun(ledger, record);
  return made;
}

async function preparerOf(ledger: RealmLedger, rule: string): Promise<string | null> {
  const approved = (await scheduledRules(ledger)).find((one) => one.rule === rule)?.approved ?? null;
  // A name that was only set stands for no person.
  return approved?.asked ?? (approved?.byToken === true ? approved.who : null);
}

/** The times that the run's time passes over: its seal lists them, whoever goes on with the run. */
async function missedBefore(ledger: RealmLedger, { rule, at }: RunMeta) {
  const entry = (await scheduledRules(ledger)).find((one) => one.rule === rule);
  const last = (await lastRuns(ledger)).get(rule) ?? null;
  return entry === undefined ? null : missedOf(entry, { last, upTo: at, withIt: false });
}

/** The run's batch was refused as a whole, for example because another has spent a reference: it is none any more. */
export async function takeBatchBack(ledger: RealmLedger, run: RunMeta): Promise<void> {
  if ((await reading.batchNumber(ledger, batchId(run.batch ?? ''))) !== null) return;
  await changeRun(ledger, run.id, (known) =>
    known?.state === 'planned' && known.batch === run.batch ? { ...known, batch: null, number: null } : null,
  );
}

/** True when the rule's file is no longer the one that the plan was made from. */
export async function isEdited(run: RunMeta): Promise<boolean> {
  const text = await readFile(run.file, 'utf8').catch(() => null);
  return text === null || hashOf(text) !== run.ruleHash;
}

export type BatchWanted = {
  readonly config: Config;
  readonly realm: string;
  readonly run: string;
  readonly last: LastRun | null;
  readonly now: number;
  readonly why: string | null;
  readonly person: Person | null;
};
export type BatchMade = (Pick<BatchRef, 'no' | 'id'> & Pick<Imported, 'existing'>) | null;

/** One at a time: each may take a core, and the store serves them one after the other anyway. */
const line = new ConcurrencyLimit(1);

/** Fewer orders are a batch before a thread has begun. */
const APART_FROM_ORDERS = 5_000;

/**
 * The same as `makeBatch`, for a process that has to answer meanwhile: hashing, packing and storing some hundred
 * thousand orders happens in a thread, with connections of its own.
 */
export async function makeBatchApart(...wish: Parameters<typeof makeBatch>): Promise<Imported | null> {
  const [app, realm, run, { last = null, now, why = null }] = wish;
  if (run.awards < APART_FROM_ORDERS) return makeBatch(...wish);
  const wanted: BatchWanted = {
    config: app.config,
    realm: realm.profile.name,
    run: run.id,
    last,
    now,
    why,
    person: app.person,
  };
  const made = arrived(await line.through(() => replyOfThread(wanted)));
  return made && { ref: { ledger: realm.ledger, no: made.no, id: made.id }, existing: made.existing };
}

function replyOfThread(wanted: BatchWanted): Promise<Carried<BatchMade>> {
  const thread = new Worker(new URL('./batch-thread.js', import.meta.url), { workerData: wanted });
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the thread that makes a batch ended by itself')));
  });
}
