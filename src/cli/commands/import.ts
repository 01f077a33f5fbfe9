import { batchStatus } from '../../runtime/operations/batch-status.js';
import { enqueue, handToWorkers } from '../../runtime/operations/pay-file.js';
import { planFile } from '../../runtime/operations/planning.js';
import { mergeJournals } from '../../runtime/operations/recovery.js';
import { refuseUnsafeStore } from '../../runtime/operations/store-safety.js';
import { countWorkers } from '../../runtime/operations/workers.js';
import { batchLines, batchNext } from '../batch-text.js';
import { defineCommand } from '../command.js';
import { confirmTotal } from '../confirm.js';
import { withApp } from '../open-app.js';
import { argument } from '../options.js';
import { existingLine, showPlan } from '../pay.js';
import { planRequest, readBatchId, SEND_OPTIONS } from '../plan-options.js';

export const command = defineCommand({
  name: 'import',
  description: 'Plans a CSV, asks, and hands the batch to the workers.',
  arguments: { FILE: argument('CSV file, or - for standard input') },
  options: SEND_OPTIONS,
  examples: ['almoner import airdrop.csv --yes', 'almoner worker'],
  run: async (context) =>
    withApp(context, 'import', async (app) => {
      await refuseUnsafeStore(app);
      const { options, args, output } = context;
      const profile = await context.profile();
      const batchId = readBatchId(options.batchId);
      await mergeJournals(app, profile);
      const realm = await app.realm(profile);
      const planned = await planFile(realm, planRequest(args.FILE, options), Date.now());
      if (!showPlan(context, app, planned, profile)) return 3;
      if (planned.preview.payable > 0 && planned.plan.existing?.view == null)
        await confirmTotal(planned.preview.payableTokens, options.yes, args.FILE === '-');
      const begunAt = Date.now();
      const { ref, existing } = await enqueue(app, realm, planned, {
        batchId,
        inOrder: options.inOrder,
        mode: 'import',
        session: null,
      });
      if (existing) await handToWorkers(app, realm, ref, planned.plan);
      const [status, workers] = await Promise.all([batchStatus(ref, { existing }), countWorkers(app)]);
      output.print({
        json: { ...status, workers },
        text: [...(existing ? [existingLine(status, begunAt)] : []), ...batchLines(status, output.colours)],
        next: batchNext(status),
      });
      return 0;
    }),
});
