import { batchStatus } from '../operations/batches/batch-status.js';
import type { Planned } from '../operations/pay/plan-file.js';
import { importRun, payRun } from '../operations/rules/run.js';
import { countWorkers } from '../operations/services/run-workers.js';
import type { RunMeta } from '../rules/run-record.js';
import type { App, OpenRealm } from '../runtime/app.js';
import type { CommandBase, ExitStatus } from './frame/command.js';
import { printPaid, whilePaying } from './pay.js';
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
  const { first } = options;
  const status = await whilePaying(context, app, realm.profile.rate, (watch) =>
    payRun(app, realm, run, planned, { ...watch, first }),
  );
  return printPaid(context, status, `almoner rules run --plan ${run.id}`, { json: told });
}
