import { DEAD_STATES } from '../../core/states.js';
import { chooseBatches } from '../../runtime/operations/choosing.js';
import { type DeadLetter, deadLetters, heldByImports } from '../../runtime/operations/dead-letters.js';
import { defineCommand, type ExitStatus } from '../command.js';
import { readClass } from '../dead-options.js';
import { withApp } from '../open-app.js';
import { choice, flag, text } from '../options.js';
import { heldLine, LetterSummary } from '../order-text.js';

export const command = defineCommand({
  name: 'dead list',
  description: 'Orders that ended without being paid, grouped by class and message, then one by one.',
  arguments: {},
  options: {
    batch: text('BATCH', 'only of this batch'),
    class: text('CLASS', 'only of this error code'),
    state: choice(DEAD_STATES, 'only in this state'),
    all: flag('also those that were discarded or put into another file'),
  },
  examples: ['almoner dead list --batch last', 'almoner dead list --class ALM_REFUSED_NOT_FOUND'],
  run: async (context) => {
    const { output, options } = context;
    const wanted = readClass(options.class);
    return withApp<ExitStatus>(context, 'dead-list', async (app) => {
      const summary = new LetterSummary();
      const orders: DeadLetter[] = [];
      const { batch, state, all } = options;
      const filter = { batch, realm: context.global.realm, class: wanted, state, all };
      for await (const letter of deadLetters(app.caller, filter)) {
        summary.add(letter);
        if (output.json) orders.push(letter);
      }
      const held = await heldByImports(app.caller, await chooseBatches(app.caller, filter), filter);
      output.print({
        json: { orders, unfinished: held },
        text: [
          ...(summary.count > 0 ? summary.lines('dead letter') : [none(held.length)]),
          ...held.map(heldLine),
        ],
        next: next(summary),
      });
      return 0;
    });
  },
});

function none(imports: number): string {
  return imports === 0 ? 'There are no dead letters.' : 'There are no other dead letters than these:';
}

function next({ count, batches, shown }: LetterSummary): string | null {
  if (count === 0) return null;
  const [batch = 'BATCH'] = batches.size === 1 ? batches : [];
  const [first] = shown;
  return `almoner dead show ${first?.order ?? 'ORDER'}; almoner dead retry --batch ${batch}, or almoner dead export --batch ${batch} to mend the rows`;
}
