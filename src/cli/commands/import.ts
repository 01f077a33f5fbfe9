import { batchStatus } from '../../operations/batches/batch-status.js';
import { planFile } from '../../operations/pay/plan-file.js';
import { importBatch } from '../../operations/pay/store-batch.js';
import { mergeJournals } from '../../operations/services/recover.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import { refuseUnsafeStore } from '../../operations/services/store-safety.js';
import { defineCommand } from '../frame/command.js';
import { confirmTotal } from '../frame/confirm.js';
import { withApp } from '../frame/open-app.js';
import { argument } from '../frame/options.js';
import { existingLines, showPlan } from '../pay.js';
import { planRequest, readBatchId, SEND_OPTIONS } from '../plan-options.js';
import { batchLines, batchNext } from '../text/batch-text.js';

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
      const { ref, existing } = await importBatch(app, realm, planned, { batchId, inOrder: options.inOrder });
      const [status, workers] = await Promise.all([batchStatus(ref, { existing }), countWorkers(app)]);
      output.print({
        json: { ...status, workers },
        text: [...existingLines(status, begunAt), ...batchLines(status, output.colours)],
        next: batchNext(status),
      });
      return 0;
    }),
});
