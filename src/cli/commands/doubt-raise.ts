import { counted } from '../../report/spelling.js';
import { batchStatus } from '../../runtime/operations/batch-status.js';
import { orderFinder } from '../../runtime/operations/choosing.js';
import { batchesOf } from '../../runtime/operations/mending-dead.js';
import { checkRaisable, raiseDoubts } from '../../runtime/operations/raising-doubts.js';
import { batchLines } from '../batch-text.js';
import { defineCommand, type ExitStatus } from '../command.js';
import { withApp } from '../open-app.js';
import { argumentList, usage } from '../options.js';
import { refusalLines } from '../order-text.js';
import { needReason, REASON } from '../reason-option.js';

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
      const named = await Promise.all(args.ORDER.map(orderFinder(app.caller, global.realm)));
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
