import { findBatch } from '../../ledger/index.js';
import { cancel } from '../../operations/batches/steer.js';
import { cancelImport } from '../../operations/rules/unfinished-runs.js';
import { counted } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument, REASON } from '../frame/options.js';
import { batchLines, underWayLines } from '../text/batch-text.js';

export const command = defineCommand({
  name: 'cancel',
  description:
    'Ends a batch for good. Orders being sent finish; what was not sent stays unsent and frees its references. An import that did not finish is taken back.',
  arguments: { BATCH: argument('a batch id, a unique prefix of one, or `last`') },
  options: REASON,
  examples: ['almoner cancel last --reason "wrong file"'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'cancel', async (app) => {
      const { output, args, options } = context;
      const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
      const released = await cancelImport(app, ref);
      if (released !== null) {
        output.print({
          json: { ...released, state: 'cancelled', changed: true },
          text: `The import ${released.batch} had not finished. It is taken back: nothing of it was sent, and its references are free.`,
          next: 'import the file again when it is meant after all',
        });
        return 0;
      }
      const why = options.reason ?? null;
      const { changed, status } = await cancel(ref, { who: app.config.operator, why });
      output.print({
        json: { ...status, changed },
        text: [
          ...(changed ? [] : [`Batch ${status.batch} was cancelled already.`]),
          ...batchLines(status, output.colours),
          ...underWayLines(status),
          `${counted(status.counts.cancelled ?? 0, 'order stays unsent; any reference it has is free again', 'orders stay unsent; any reference they have is free again')}.`,
        ],
        next: `almoner report ${status.batch}; unprocessed.csv holds what was not sent`,
      });
      return 0;
    }),
});
