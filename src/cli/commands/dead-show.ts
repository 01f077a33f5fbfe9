import { findOrder } from '../../operations/batches/find-orders.js';
import { orderStory } from '../../operations/batches/order-story.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { argument } from '../frame/options.js';
import { detailLines, oneLine, orderWords } from '../text/order-text.js';

export const command = defineCommand({
  name: 'dead show',
  description: 'One order with everything it met: attempts, answers, balances read, and what people did.',
  arguments: { ORDER: argument('an order id, as `almoner dead list` prints it') },
  options: {},
  examples: ['almoner dead show 7k3m9q2x4v8w-17'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'dead-show', async (app) => {
      const { output, args } = context;
      const story = await orderStory(await findOrder(app.scripts, args.ORDER, context.global.realm));
      const [first = null, ...others] = story.next;
      output.print({
        json: story,
        text: [
          ...(story.rehearsal ? [output.colours.yellow('REHEARSAL: no real points moved.')] : []),
          `Order ${output.colours.bold(story.order)} (line ${story.line}) on ${story.realm}: ${orderWords(story)}`,
          `  ${[story.state, ...story.marks].join(', ')}${story.evidence === null ? '' : `, proven by ${story.evidence}`}, ${story.attempts} attempts`,
          ...(story.class === null ? [] : [`  ${story.class}: ${story.message ?? ''}`]),
          ...(story.reference === null ? [] : [`  reference ${oneLine(story.reference)}`]),
          ...(story.reason === null ? [] : [`  reason ${oneLine(story.reason)}`]),
          ...(story.history.length === 0
            ? ['Nothing out of the ordinary happened to it.']
            : ['What it met:', ...story.history.flatMap(detailLines)]),
        ],
        next: first === null ? null : [first, ...others.map((way) => `      ${way}`)].join('\n'),
      });
      return 0;
    }),
});
