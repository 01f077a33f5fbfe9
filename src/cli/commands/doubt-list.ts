import { type DeadLetter, deadLetters } from '../../operations/dead/dead-letters.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { text } from '../frame/options.js';
import { LetterSummary } from '../text/order-text.js';

export const command = defineCommand({
  name: 'doubt list',
  description: 'Orders of which the program cannot prove whether they were paid. They wait for an operator.',
  arguments: {},
  options: { batch: text('BATCH', 'only of this batch') },
  examples: ['almoner doubt list', 'almoner doubt list --batch last'],
  run: async (context) =>
    withApp<ExitStatus>(context, 'doubt-list', async (app) => {
      const { output, options } = context;
      const summary = new LetterSummary();
      const orders: DeadLetter[] = [];
      const filter = { batch: options.batch, realm: context.global.realm, state: 'doubt' } as const;
      for await (const letter of deadLetters(app.scripts, filter)) {
        summary.add(letter);
        if (output.json) orders.push(letter);
      }
      output.print({
        json: { orders },
        text: summary.count === 0 ? 'There are no doubts.' : summary.lines('doubt'),
        next: summary.count === 0 ? null : next(summary),
      });
      return 0;
    }),
});

function next({ shown, batches }: LetterSummary): string {
  const [batch = 'BATCH'] = batches.size === 1 ? batches : [];
  return `almoner doubt show ${shown[0]?.order ?? 'ORDER'}; almoner doubt resolve ORDER --paid|--unpaid --reason …, or fill in doubt.csv of almoner report ${batch} and give it with --file`;
}
