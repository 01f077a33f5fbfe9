import { idOf } from '../../operations/batches/find-orders.js';
import { chooseDead } from '../../operations/dead/dead-letters.js';
import { discardDead } from '../../operations/dead/retry-discard.js';
import { counted, grouped } from '../../words/spelling.js';
import { DEAD_OPTIONS, ORDERS, readSelection } from '../dead-options.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { needReason, REASON, usage } from '../frame/options.js';
import { refusalLines, slowProgress } from '../text/order-text.js';

export const command = defineCommand({
  name: 'dead discard',
  description:
    'Marks dead letters as done with, giving a reason. They keep their state and are never retried; doubts are not touched.',
  arguments: ORDERS,
  options: { ...DEAD_OPTIONS, ...REASON },
  examples: ['almoner dead discard 7k3m9q2x4v8w-17 --reason "left the community"'],
  run: async (context) => {
    const { output, args, options } = context;
    const selection = readSelection(args.ORDER, options);
    const why = needReason(options.reason);
    return withApp<ExitStatus>(context, 'dead-discard', async (app) => {
      const chosen = await chooseDead(app.scripts, selection, context.global.realm);
      if (chosen.places.length === 0)
        throw usage(
          'There is no dead letter to discard. Nothing was done.',
          'List them with `almoner dead list --all`.',
        );
      const tell = slowProgress(output.note, (done, of) => `${grouped(done)} of ${grouped(of)}`);
      const by = { who: app.config.operator, why };
      const { taken, refused } = await discardDead(app, chosen.places, by, (done) =>
        tell(done, chosen.places.length),
      );
      output.print({
        json: { discarded: taken.map(idOf), refused },
        text: [
          `${counted(taken.length, 'dead letter')} discarded.`,
          ...(refused.length > 0 ? [`${counted(refused.length, 'order')} left alone:`] : []),
          ...refusalLines(refused),
        ],
        next: 'almoner dead list shows what is left; --all shows these as well',
      });
      return refused.length > 0 ? 4 : 0;
    });
  },
});
