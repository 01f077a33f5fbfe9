import { findBatch } from '../../ledger/index.js';
import { pause } from '../../operations/batches/steer.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, REASON } from '../frame/options.js';
import { batchLines, underWayLines } from '../text/batch-text.js';

export const command = defineCommand({
  name: 'pause',
  description: 'Stops a batch, on all workers at once. Orders being sent finish; nothing new is sent.',
  arguments: { BATCH: argument('a batch id, a unique prefix of one, or `last`') },
  options: REASON,
  examples: ['almoner pause last --reason "wrong amounts?"'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'pause', async (app) => {
      const { output, args, options } = context;
      const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
      const why = options.reason ?? null;
      const { changed, status } = await pause(ref, { who: app.config.operator, why });
      output.print({
        json: { ...status, changed },
        text: [
          ...(changed ? [] : [`Batch ${status.batch} stands still already.`]),
          ...batchLines(status, output.colours),
          ...underWayLines(status),
        ],
        next: `almoner resume ${status.batch}, or almoner cancel ${status.batch}`,
      });
      return 0;
    }),
});
