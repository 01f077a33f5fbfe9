import type { Rate, RealmProfile } from '../core/profile.js';
import { type BatchStatus, exitOf } from '../operations/batches/batch-status.js';
import { type Planned, writeFaultsFile } from '../operations/pay/plan-file.js';
import { type PayRequest, payPlan, type Watch } from '../operations/pay/run-batch.js';
import type { App, OpenRealm } from '../runtime/app.js';
import { listenForStop, stopDeadlineMs } from '../runtime/stop-signals.js';
import { counted } from '../words/spelling.js';
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

/** Shows the progress of paying on stderr; Ctrl-C lets what is being sent finish, and nothing else is sent. */
export async function whilePaying<T>(
  { output }: CommandBase,
  { config }: App,
  rate: Rate | null,
  pay: (watch: Watch) => Promise<T>,
): Promise<T> {
  const signals = listenForStop(
    () => output.note('\nStopping: what is being sent finishes, nothing else is sent…'),
    stopDeadlineMs(config),
  );
  const progress = new Progress(process.stderr, rate);
  try {
    return await pay({ stop: signals.requested, onProgress: (...seen) => progress.show(...seen) });
  } finally {
    progress.end();
    signals.release();
  }
}

/** Says how a batch stands that this process has paid, and ends as it does. */
export function printPaid(
  { output }: CommandBase,
  status: BatchStatus,
  rerun: string,
  more: { readonly json?: object; readonly lines?: readonly string[] } = {},
): ExitStatus {
  const interrupted = status.reason?.code === 'ALM_BATCH_INTERRUPTED';
  const paid = counted(status.counts.paid ?? 0, 'order was', 'orders were');
  output.print({
    json: { ...status, ...more.json },
    text: [
      ...(more.lines ?? []),
      ...batchLines(status, output.colours),
      ...(interrupted ? [`${paid} paid. Nothing else is being sent.`] : []),
    ],
    next: batchNext(status, rerun),
  });
  return exitOf(status);
}

export async function payFile(
  context: CommandBase,
  app: App,
  realm: OpenRealm,
  planned: Planned,
  { rerun, ...wish }: Omit<PayRequest, keyof Watch> & { readonly rerun: string },
): Promise<ExitStatus> {
  const begunAt = Date.now();
  const status = await whilePaying(context, app, realm.profile.rate, (watch) =>
    payPlan(app, realm, planned, { ...wish, ...watch }),
  );
  return printPaid(context, status, rerun, { lines: existingLines(status, begunAt) });
}

/** Says of orders that were a batch already what became of it. */
export function existingLines({ existing, state, finishedAt }: BatchStatus, begunAt: number): string[] {
  if (!existing) return [];
  if (state === 'cancelled')
    return [
      'These orders are a batch already, which was cancelled: nothing was sent, and what it paid stays paid.',
    ];
  const over = finishedAt !== null && Date.parse(finishedAt) < begunAt;
  return [
    over
      ? 'These orders are a batch already, which was over before: nothing was sent, and nobody is paid twice.'
      : 'These orders are a batch already; it went on, and nobody is paid twice.',
  ];
}
