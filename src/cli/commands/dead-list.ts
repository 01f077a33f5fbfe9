import { DEAD_STATES } from '../../core/states.js';
import { chooseBatches } from '../../operations/batches/find-orders.js';
import { type DeadLetter, deadLetters, heldByImports } from '../../operations/dead/dead-letters.js';
import { counted } from '../../words/spelling.js';
import { readClass } from '../dead-options.js';
import { defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { choice, flag, text } from '../frame/options.js';
import { heldLine, LetterSummary } from '../text/order-text.js';

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
      let hidden = 0;
      for await (const letter of deadLetters(app.scripts, { ...filter, all: true })) {
        if (letter.marks.length > 0 && !all) {
          hidden += 1;
          continue;
        }
        summary.add(letter);
        if (output.json) orders.push(letter);
      }
      const held = await heldByImports(app.scripts, await chooseBatches(app.scripts, filter), filter);
      output.print({
        json: { orders, unfinished: held },
        text: [
          ...(summary.count === 0 ? [noneWords(hidden)] : summary.lines('dead letter')),
          ...(summary.count > 0 && hidden > 0
            ? [`${counted(hidden, 'more was', 'more were')} ${GONE}: --all lists them.`]
            : []),
          ...held.map(heldLine),
        ],
        next: summary.count === 0 && hidden > 0 ? allOf(batch) : next(summary),
      });
      return 0;
    });
  },
});

function noneWords(hidden: number): string {
  return hidden === 0
    ? 'There are no dead letters.'
    : `No dead letter is left. ${counted(hidden, 'was', 'were')} ${GONE}.`;
}

const GONE = 'discarded or put into another file';

function allOf(batch: string | undefined): string {
  return `almoner dead list --all${batch === undefined ? '' : ` --batch ${batch}`}; almoner dead show ORDER says where one went`;
}

function next({ count, batches, shown }: LetterSummary): string | null {
  if (count === 0) return null;
  const [batch = 'BATCH'] = batches.size === 1 ? batches : [];
  const [first] = shown;
  return `almoner dead show ${first?.order ?? 'ORDER'}; almoner dead retry --batch ${batch}, or almoner dead export --batch ${batch} to mend the rows`;
}
