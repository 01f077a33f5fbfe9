import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import {
  type BatchRef,
  type BatchView,
  newNonce,
  type planning,
  readBatch,
  recovery,
  steering,
} from '../../ledger/index.js';
import { type Imported, importPlan, whySealed } from '../../planning/store-plan.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { counted } from '../../words/spelling.js';
import { letRealmGoOn } from '../batches/batch-realm.js';
import { isOver, isOwnerGone } from '../batches/batch-status.js';
import { record, recordIn } from '../people/audit.js';
import { needPreparer, requirementOf } from '../people/who.js';
import { openForJudging } from '../services/recovery.js';
import type { Planned } from './plan-file.js';
import { keepColumns } from './plan-input.js';
import { isRehearsal, makeMembers } from './rehearsals.js';

/** From a confirmed plan to a sealed batch in the books. */
export type BatchWish = {
  readonly batchId: BatchId | null;
  readonly inOrder: boolean;
  /** The run that works it off; null for the workers. */
  readonly session: recovery.Session | null;
  /** Where a rule's run is made a batch. */
  readonly run: planning.SealedRun | null;
  readonly why?: string | null;
};

export async function storeBatch(
  app: App,
  realm: OpenRealm,
  { plan, preview }: Planned,
  { batchId, inOrder, session, run, why = null }: BatchWish,
): Promise<Imported> {
  const enter = () => session?.join(realm.ledger) ?? Promise.resolve();
  const unattended = run?.schedule?.only === true;
  const person = unattended ? null : await needPreparer(app, realm.profile);
  await openForJudging(app, realm.profile);
  if (realm.embedded !== null) await makeMembers(realm.embedded, realm.profile.realmId, plan);
  const who = person?.name ?? app.config.operator;
  const mode = session === null ? 'import' : 'run';
  const imported = await importPlan(plan, {
    ledger: realm.ledger,
    profile: realm.profile,
    batchId,
    mode,
    owner: session?.id ?? '',
    inOrder,
    expectedMs: preview.seconds * 1000,
    who,
    prepared: {
      who: person?.name ?? run?.schedule?.preparer ?? null,
      limits: requirementOf(realm.profile),
      start: preview.start,
    },
    importer: newNonce(),
    now: Date.now(),
    onProgress: () => {},
    run,
    join: () => openForJudging(app, realm.profile, enter),
  });
  // A rehearsal leaves nothing behind. A time of the schedule is no person's deed: the batch's own log has it.
  if (isRehearsal(realm.profile)) return imported;
  if (!imported.existing && !unattended)
    await recordIn(app.scripts, who, {
      what: `${mode} of ${plan.source}${run === null ? '' : `, plan ${run.id}`}: ${counted(plan.totals.rows, 'row')}`,
      why: [why, whySealed(plan)].filter((one) => one !== null).join('; ') || null,
      batches: [imported.ref.id],
      orders: preview.payable,
      tokens: preview.payableTokens,
    });
  await keepColumns(realm.ledger, plan, who);
  return imported;
}

/** Hands the orders of a file to the workers. */
export async function importBatch(
  app: App,
  realm: OpenRealm,
  planned: Planned,
  wish: Pick<BatchWish, 'batchId' | 'inOrder'>,
): Promise<Imported> {
  const made = await storeBatch(app, realm, planned, { ...wish, session: null, run: null });
  if (made.existing) await handToWorkers(app, realm, made.ref, planned.plan);
  return made;
}

/**
 * The same orders again are the same batch: one that stands still goes on, in the workers' hands. Only as it stood when
 * the person saw it: one that was started elsewhere since, and paused there, was paused by somebody who knew more.
 */
async function handToWorkers(
  app: App,
  realm: OpenRealm,
  ref: BatchRef,
  { existing }: Planned['plan'],
): Promise<void> {
  const view = await readBatch(ref);
  if (view === undefined || isOver(view) || !(await isOwnerGone(ref, view.owner))) return;
  if (view.whyNot.includes('after-rollback')) throw recovery.afterRollback.mustWait(ref.ledger);
  if (view.owner === '' && (view.state === 'running' || view.state === 'planned')) return;
  if (standing(existing?.view) !== standing(view))
    throw new AlmonerError(
      'ALM_PLAN_CHANGED',
      `The file’s orders are batch ${ref.id}, which is ${view.state} by now${view.reason === null ? '' : ` (${view.reason.message})`} and was not when the plan was shown. Nothing was enqueued, and the batch was left as it is.`,
      {
        next: `Look at the batch, and plan the file again or \`almoner resume ${ref.id}\` if it is to go on.`,
      },
    );
  await letRealmGoOn(realm);
  const audit = {
    at: Date.now(),
    who: app.config.operator,
    what: 'resumed by an import of the same orders',
    why: null,
  };
  const { done } = await steering.batch.resume(ref, audit, { owner: '' });
  if (done) await recordResumed(app, ref, 'an import');
}

/** A batch that stood still goes on, because a person gave its orders again. */
export async function recordResumed(app: App, ref: BatchRef, how: string): Promise<void> {
  const view = await readBatch(ref);
  await record(app, {
    what: `resumed batch ${ref.id} by ${how} of the same orders`,
    why: null,
    batches: [ref.id],
    orders: view?.counts.planned ?? 0,
    tokens: view?.sums.planned ?? 0n,
  });
}

/** How a batch stands still, for comparing: of a running one nothing is said. */
export function standing(view: Pick<BatchView, 'state' | 'reason'> | null | undefined): string {
  if (view?.state !== 'paused' && view?.state !== 'halted') return '';
  return `${view.state} ${view.reason?.code} ${view.reason?.message}`;
}
