import type { BatchId } from '../core/ids.js';
import type { RealmProfile } from '../core/profile.js';
import { type BatchStatus, exitOf } from '../operations/batches/batch-status.js';
import { payPlan } from '../operations/pay/pay-file.js';
import { type Planned, refuseFaults, writeFaultsFile } from '../operations/pay/plan-file.js';
import { counted } from '../report/spelling.js';
import type { App, OpenRealm } from '../runtime/app.js';
import { listenForStop, stopDeadlineMs } from '../runtime/stop-signals.js';
import type { CommandBase, ExitStatus } from './frame/command.js';
import { Progress } from './frame/progress.js';
import { batchLines, batchNext } from './text/batch-text.js';
import { findingLines, planDocument, planLines, refusedNext } from './text/preview-text.js';

/** Shows a plan before anything is sent; a faulty one ends here, with the plan as its JSON document. */
export function showPlan(context: CommandBase, app: App, planned: Planned, profile: RealmProfile): boolean {
  const { findings } = planned.plan;
  const { output } = context;
  for (const line of [
    ...planLines(planned, profile, app.store.address, output.colours),
    ...findingLines(findings.warnings(), findings.warningCount, 'warning', null, output.colours),
  ])
    output.line(line);
  if (findings.faultCount === 0) return true;
  const faultsFile = writeFaultsFile(planned.plan, app.config.reportsFolder);
  output.print({
    json: planDocument(planned, profile, faultsFile),
    text: [
      ...findingLines(findings.faults(), findings.faultCount, 'fault', faultsFile, output.colours),
      'The file is refused as a whole. Nothing was enqueued and nothing was sent.',
    ],
    next: refusedNext(findings.faults()),
  });
  return false;
}

export async function payAndReport(
  context: CommandBase,
  app: App,
  realm: OpenRealm,
  planned: Planned,
  options: { batchId: BatchId | null; inOrder: boolean; first: number | null; rerun: string },
): Promise<ExitStatus> {
  refuseFaults(planned.plan, app.config.reportsFolder);
  const begunAt = Date.now();
  const signals = listenForStop(
    () => context.output.note('\nStopping: what is being sent finishes, nothing else is sent…'),
    stopDeadlineMs(app.config),
  );
  const progress = new Progress(process.stderr, realm.profile.rate);
  let status: BatchStatus;
  try {
    status = await payPlan(app, realm, planned, {
      ...options,
      concurrency: 64,
      stop: signals.requested,
      onProgress: (...seen) => progress.show(...seen),
    });
  } finally {
    progress.end();
    signals.release();
  }
  const interrupted = status.reason?.code === 'ALM_BATCH_INTERRUPTED';
  context.output.print({
    json: status,
    text: [
      ...(status.existing ? [existingLine(status, begunAt)] : []),
      ...batchLines(status, context.output.colours),
      ...(interrupted ? [paidSoFar(status)] : []),
    ],
    next: batchNext(status, options.rerun),
  });
  return exitOf(status);
}

export function existingLine({ state, finishedAt }: BatchStatus, begunAt: number): string {
  if (state === 'cancelled')
    return 'These orders are a batch already, which was cancelled: nothing was sent, and what it paid stays paid.';
  const over = finishedAt !== null && Date.parse(finishedAt) < begunAt;
  return over
    ? 'These orders are a batch already, which was over before: nothing was sent, and nobody is paid twice.'
    : 'These orders are a batch already; it went on, and nobody is paid twice.';
}

/** Of a run that was interrupted. */
export function paidSoFar({ counts }: BatchStatus): string {
  return `${counted(counts.paid ?? 0, 'order was', 'orders were')} paid. Nothing else is being sent.`;
}
