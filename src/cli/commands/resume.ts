import { findBatch } from '../../ledger/index.js';
import { resume } from '../../operations/batches/steer.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, REASON } from '../frame/options.js';
import { batchLines, batchNext } from '../text/batch-text.js';

export const command = defineCommand({
  name: 'resume',
  description:
    'Goes on with a paused or halted batch, or hands an interrupted run to the workers. The key of a halted realm is read again and tried with one read first.',
  arguments: { BATCH: argument('a batch id, a unique prefix of one, or `last`') },
  options: REASON,
  examples: ['almoner resume last'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'resume', async (app) => {
      const { output, args, options } = context;
      const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
      const by = { who: app.config.operator, why: options.reason ?? null };
      const { changed, status } = await resume(app, ref, by);
      const workers = await countWorkers(app);
      output.print({
        json: { ...status, changed, workers },
        text: [
          changed ? 'It goes on; the workers take it.' : `Batch ${status.batch} is already being worked.`,
          ...batchLines(status, output.colours),
        ],
        next: batchNext(status),
      });
      return 0;
    }),
});
