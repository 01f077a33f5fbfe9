import { resolve } from 'node:path';
import { currencyOption } from '../../core/currencies.js';
import { type ErrorCode, isErrorCode } from '../../core/errors/catalogue.js';
import { oneLine } from '../../core/one-line.js';
import { DEAD_STATES } from '../../core/states.js';
import { findBatch } from '../../ledger/index.js';
import { deadLetters, exportDead, heldByImports } from '../../operations/orders/dead-letters.js';
import { findOrder } from '../../operations/orders/find-orders.js';
import { orderStory } from '../../operations/orders/order-story.js';
import type { OrderRow } from '../../operations/views/order.js';
import { writeRows } from '../../report/staging.js';
import { counted } from '../../words/spelling.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, choice, flag, text, usage } from '../frame/options.js';
import { detailLines, headLines, heldLine, LetterSummary } from '../text/order-text.js';

/** Lists the dead letters: grouped by class and message first, then one by one. */
export const list = storeCommand({
  name: 'dead list',
  description: 'Orders that ended without being paid, grouped by class and message, then one by one.',
  options: {
    batch: text('BATCH', 'only of this batch'),
    class: text('CLASS', 'only of this error code'),
    state: choice(DEAD_STATES, 'only in this state'),
    all: flag('also those that were discarded or put into another file'),
  },
  examples: ['almoner dead list --batch last', 'almoner dead list --class ALM_REFUSED_NOT_FOUND'],
  run: ({ output, options, global }) => {
    const wanted = readClass(options.class);
    return async (app) => {
      const summary = new LetterSummary();
      const orders: OrderRow[] = [];
      const { batch, state, all } = options;
      const filter = { batch, realm: global.realm, class: wanted, state, all };
      let hidden = 0;
      for await (const letter of deadLetters(app.scripts, { ...filter, all: true })) {
        if (letter.marks.length > 0 && !all) {
          hidden += 1;
          continue;
        }
        summary.add(letter);
        if (output.json) orders.push(letter);
      }
      const held = await heldByImports(app.scripts, filter);
      output.print({
        json: { orders, unfinished: held },
        text: [
          ...(summary.count === 0 ? [noneWords(hidden)] : summary.lines('dead letter')),
          ...(summary.count > 0 && hidden > 0
            ? [`${counted(hidden, 'more was', 'more were')} ${GONE}: --all lists them.`]
            : []),
          ...held.map(heldLine),
        ],
        next: summary.count === 0 && hidden > 0 ? allOf(batch) : nextOfList(summary),
      });
    };
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

function nextOfList({ count, batches, shown }: LetterSummary): string | null {
  if (count === 0) return null;
  const [batch = 'BATCH'] = batches.size === 1 ? batches : [];
  const [first] = shown;
  return `almoner dead show ${first?.order ?? 'ORDER'}; almoner dead retry --batch ${batch}, or almoner dead export --batch ${batch} to mend the rows`;
}

/** Shows one dead letter with all its attempts. */
export const show = storeCommand({
  name: 'dead show',
  description: 'One order with everything it met: attempts, answers, balances read, and what people did.',
  arguments: { ORDER: argument('an order id, as `almoner dead list` prints it') },
  examples: ['almoner dead show 7k3m9q2x4v8w-17'],
  run: (context) => async (app) => {
    const { output, args } = context;
    const story = await orderStory(await findOrder(app.scripts, args.ORDER, context.global.realm));
    const [first = null, ...others] = story.next;
    output.print({
      json: story,
      text: [
        ...headLines(story, output.colours),
        `  ${[story.state, ...story.marks].join(', ')}${story.evidence === null ? '' : `, proven by ${story.evidence}`}, ${counted(story.attempts, 'attempt')}`,
        ...(story.class === null ? [] : [`  ${story.class}: ${story.message ?? ''}`]),
        ...(story.reference === null ? [] : [`  reference ${oneLine(story.reference)}`]),
        ...(story.reason === null ? [] : [`  reason ${oneLine(story.reason)}`]),
        ...(story.history.length === 0
          ? ['Nothing out of the ordinary happened to it.']
          : ['What it met:', ...story.history.flatMap(detailLines)]),
      ],
      next: first === null ? null : [first, ...others.map((way) => `      ${way}`)].join('\n'),
    });
  },
});

/** Writes a batch's dead letters as a CSV that can be mended and run. */
export const exportRows = storeCommand({
  name: 'dead export',
  description:
    'Writes the dead letters of a batch as CSV, like failed.csv: refused and exhausted ones that were neither discarded nor put into another file.',
  options: {
    batch: text('BATCH', 'a batch id, a unique prefix of one, or `last`'),
    out: text('FILE', 'where to write it (default: dead-BATCH.csv here)'),
  },
  examples: ['almoner dead export --batch last --out mended.csv'],
  run: ({ output, options, cwd, global }) => {
    const { batch } = options;
    if (batch === undefined) throw usage('Name the batch with --batch. Nothing was done.');
    return async (app) => {
      const ref = await findBatch(app.scripts, batch, global.realm);
      const name = options.out ?? `dead-${ref.id}.csv`;
      const { written, file } = await writeRows(resolve(cwd, name), (add) => exportDead(ref, add));
      const { rows, currency } = written;
      const held = await heldByImports(app.scripts, { batch: ref.id, realm: ref.ledger.realm.name });
      output.print({
        json: { batch: ref.id, file, rows },
        text: [
          rows === 0
            ? `Batch ${ref.id} has no dead letters to export; no file was written.`
            : `${counted(rows, 'dead letter')} written to ${name}.`,
          ...held.map(heldLine),
        ],
        next:
          rows === 0
            ? null
            : `mend the rows, then almoner run ${name}${currencyOption(currency)}; it replaces them, so nobody is paid twice`,
      });
    };
  },
});

/** Reads `--class` as a stable error code. */
export function readClass(given: string | undefined): ErrorCode | undefined {
  if (given === undefined) return undefined;
  const code = given.toUpperCase();
  if (isErrorCode(code)) return code;
  throw usage(
    `--class: ${JSON.stringify(given)} is no error code. Nothing was done.`,
    'See the classes with `almoner dead list`.',
  );
}
