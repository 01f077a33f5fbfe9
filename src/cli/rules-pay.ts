import { type BatchStatus, batchStatus, exitOf } from '../operations/batches/batch-status.js';
import type { Planned } from '../operations/pay/plan-file.js';
import { importRun, payRun } from '../operations/rules/run.js';
import { countWorkers } from '../operations/services/run-workers.js';
import type { RunMeta } from '../rules/run-record.js';
import type { App, OpenRealm } from '../runtime/app.js';
import { listenForStop, stopDeadlineMs } from '../runtime/stop-signals.js';
import type { CommandBase, ExitStatus } from './frame/command.js';
import { Progress } from './frame/progress.js';
import { paidSoFar } from './pay.js';
import { batchLines, batchNext } from './text/batch-text.js';

type Options = { readonly edited: boolean; readonly import: boolean; readonly first: number | null };

/** Pays a rule's batch in this process, or hands it to the workers, and says how it stands. */
export async function payRuleRun(
  context: CommandBase,
  app: App,
  realm: OpenRealm,
  run: RunMeta,
  planned: Planned,
  options: Options,
): Promise<ExitStatus> {
  const { output } = context;
  const told = { plan: run.id, rule: run.rule, period: run.period, edited: options.edited };
  if (options.import) {
    const { ref, existing } = await importRun(app, realm, run, planned);
    const [status, workers] = await Promise.all([batchStatus(ref, { existing }), countWorkers(app)]);
    output.print({
      json: { ...status, ...told, workers },
      text: batchLines(status, output.colours),
      next: batchNext(status),
    });
    return 0;
  }
  const status = await payHere(context, app, realm, run, planned, options.first);
  const interrupted = status.reason?.code === 'ALM_BATCH_INTERRUPTED';
  output.print({
    json: { ...status, ...told },
    text: [...batchLines(status, output.colours), ...(interrupted ? [paidSoFar(status)] : [])],
    next: batchNext(status, `almoner rules run --plan ${run.id}`),
  });
  return exitOf(status);
}

async function payHere(
  context: CommandBase,
  app: App,
  realm: OpenRealm,
  run: RunMeta,
  planned: Planned,
  first: number | null,
): Promise<BatchStatus> {
  const signals = listenForStop(
    () => context.output.note('\nStopping: what is being sent finishes, nothing else is sent…'),
    stopDeadlineMs(app.config),
  );
  const progress = new Progress(process.stderr, realm.profile.rate);
  try {
    return await payRun(app, realm, run, planned, {
      inOrder: false,
      first,
      concurrency: 64,
      stop: signals.requested,
      onProgress: (...seen) => progress.show(...seen),
    });
  } finally {
    progress.end();
    signals.release();
  }
}
