import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import {
  type BatchRef,
  type BatchView,
  readBatch,
  resumeBatch,
  type SealedRun,
  type Session,
} from '../../ledger/index.js';
import { importPlan } from '../../planning/store-plan.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { type BatchStatus, batchStatus } from '../batches/batch-status.js';
import { letRealmGoOn } from '../batches/realm-halt.js';
import { reportBatch } from '../batches/report.js';
import { mergeIfRestored } from '../services/recover.js';
import type { Planned } from './plan-file.js';
import { makeMembers } from './rehearsals.js';
import { isOver, isOwnedByLiving, runBatch, type ShowProgress } from './run-batch.js';

/** From a confirmed plan to a batch in the books, and, for a run, on to its report. */
export type EnqueueOptions = {
  readonly batchId: BatchId | null;
  readonly inOrder: boolean;
  readonly mode: 'run' | 'import';
  readonly session: Session | null;
  readonly run?: SealedRun;
  readonly onStored?: (rows: number) => void;
};

export async function enqueue(
  app: App,
  realm: OpenRealm,
  { plan, preview }: Planned,
  options: EnqueueOptions,
): Promise<{ ref: BatchRef; existing: boolean }> {
  await mergeIfRestored(app, realm.profile);
  if (realm.embedded !== null) await makeMembers(realm.embedded, realm.profile.realmId, plan);
  return importPlan(plan, {
    ledger: realm.ledger,
    profile: realm.profile,
    batchId: options.batchId,
    mode: options.mode,
    owner: options.session?.id ?? '',
    inOrder: options.inOrder,
    expectedMs: preview.seconds * 1000,
    who: app.config.operator,
    importer: app.newNonce(),
    now: Date.now(),
    onProgress: options.onStored ?? (() => {}),
    run: options.run ?? null,
  });
}

/**
 * The same orders again are the same batch: one that stands still goes on, in the workers' hands. Only as it stood when
 * the person saw it: one that was started elsewhere since, and paused there, was paused by somebody who knew more.
 */
export async function handToWorkers(
  app: App,
  realm: OpenRealm,
  ref: BatchRef,
  { existing }: Planned['plan'],
): Promise<void> {
  const view = await readBatch(ref);
  if (view === undefined || isOver(view) || (await isOwnedByLiving(ref, view.owner, ''))) return;
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
  await resumeBatch(ref.ledger, ref.no, audit, { owner: '' });
}

/** How a batch stands still, for comparing: of a running one nothing is said. */
export function standing(view: Pick<BatchView, 'state' | 'reason'> | null | undefined): string {
  if (view?.state !== 'paused' && view?.state !== 'halted') return '';
  return `${view.state} ${view.reason?.code} ${view.reason?.message}`;
}

export type PayRequest = {
  readonly batchId: BatchId | null;
  readonly inOrder: boolean;
  readonly first: number | null;
  readonly concurrency: number;
  readonly stop: AbortSignal;
  readonly onProgress: ShowProgress;
  readonly run?: SealedRun;
};

/** Enqueues, works the batch off in this process, writes the report and says how it stands. */
export async function payPlan(
  app: App,
  realm: OpenRealm,
  planned: Planned,
  request: PayRequest,
): Promise<BatchStatus> {
  const session = await app.session('run');
  await session.register(realm.ledger);
  const { ref, existing } = await enqueue(app, realm, planned, { ...request, mode: 'run', session });
  await runBatch(app, realm, { ...request, ref, session, who: app.config.operator });
  const { folder } = await reportBatch(ref, realm.plans, app.config);
  return batchStatus(ref, { existing, report: folder });
}
