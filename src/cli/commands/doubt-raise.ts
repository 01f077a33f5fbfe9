import { batchStatus } from '../../operations/batches/batch-status.js';
import { orderFinder } from '../../operations/batches/find-orders.js';
import { batchesOf } from '../../operations/dead/retry-discard.js';
import { checkRaisable, raiseDoubts } from '../../operations/doubts/raise.js';
import { counted } from '../../words/spelling.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argumentList, needReason, REASON, usage } from '../frame/options.js';
import { batchLines } from '../text/batch-text.js';
import { refusalLines } from '../text/order-text.js';

export const command = defineCommand({
  name: 'doubt raise',
  description:
    'Makes doubts of orders that stay unknown, so that you can decide them. They are not sent again by themselves. All are checked first; one that is wrong stops all.',
  arguments: { ORDER: argumentList('order ids, as `almoner status BATCH` and results.csv name them') },
  options: REASON,
  examples: ['almoner doubt raise 7k3m9q2x4v8w-17 --reason "the realm is gone for good"'],
  run: async (context) => {
    const { output, args, options, global } = context;
    if (args.ORDER.length === 0) throw usage('Name the orders. Nothing was done.');
    const why = needReason(options.reason);
    return withApp<ExitStatus>(context, 'doubt-raise', async (app) => {
      const named = await Promise.all(args.ORDER.map(orderFinder(app.scripts, global.realm)));
      const places = await checkRaisable(named);
      if (places.length === 0)
        throw usage('They are in doubt already. Nothing was done.', 'List them with `almoner doubt list`.');
      const { raised, missed } = await raiseDoubts(app, places, { who: app.config.operator, why });
      const statuses = await Promise.all(batchesOf(places).map((ref) => batchStatus(ref)));
      output.print({
        json: { raised, missed, batches: statuses },
        text: [
          `${counted(raised.length, 'order is', 'orders are')} in doubt now. Nothing was sent.`,
          ...refusalLines(missed),
          ...statuses.flatMap((status) => batchLines(status, output.colours)),
        ],
        next: raised[0] === undefined ? 'almoner doubt list' : `almoner doubt show ${raised[0]}`,
      });
      return missed.length > 0 ? 4 : 0;
    });
  },
});
