import { resolve } from 'node:path';
import { DEAD_STATES } from '../../core/states.js';
import { type BatchRef, findBatch } from '../../ledger/index.js';
import { isRehearsalOfItsOwn, profileOfBatch } from '../../operations/batches/batch-realm.js';
import { type BatchStatus, batchStatus, exitOf } from '../../operations/batches/batch-status.js';
import { chooseBatches, findOrder, idOf } from '../../operations/batches/find-orders.js';
import { orderStory } from '../../operations/batches/order-story.js';
import {
  chooseDead,
  type DeadLetter,
  deadLetters,
  exportDead,
  heldByImports,
} from '../../operations/dead/dead-letters.js';
import { batchesOf, discardDead, retryDead } from '../../operations/dead/retry-discard.js';
import { needRunnable, runExisting } from '../../operations/pay/run-batch.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import { NewFile } from '../../report/whole-file.js';
import type { App } from '../../runtime/app.js';
import { counted, grouped } from '../../words/spelling.js';
import { DEAD_OPTIONS, ORDERS, readClass, readSelection } from '../dead-options.js';
import type { CommandBase, ExitStatus } from '../frame/command.js';
import { storeCommand } from '../frame/open-app.js';
import { argument, choice, flag, needReason, REASON, text, usage } from '../frame/options.js';
import { whilePaying } from '../frame/while-paying.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import {
  detailLines,
  heldLine,
  LetterSummary,
  oneLine,
  orderWords,
  refusalLines,
  slowProgress,
} from '../text/order-text.js';

/** The dead letters: orders that ended without being paid. */
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
  run: (context) => {
    const { output, options } = context;
    const wanted = readClass(options.class);
    return async (app) => {
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
        next: summary.count === 0 && hidden > 0 ? allOf(batch) : nextOfList(summary),
      });
      return 0;
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
  },
});

export const retry = storeCommand({
  name: 'dead retry',
  description:
    'Puts dead letters back to work, never a doubt. The workers send them; --run sends them in this process.',
  arguments: ORDERS,
  options: {
    ...DEAD_OPTIONS,
    ...REASON,
    newAddress: flag('go on where the same realm id was paid under another address'),
    run: flag('work them off in this process, right away'),
  },
  examples: [
    'almoner dead retry --batch last --class ALM_SEND_NOT_SENT',
    'almoner dead retry 7k3m9q2x4v8w-17',
  ],
  run: (context) => {
    const { output, args, options } = context;
    const selection = readSelection(args.ORDER, options);
    return async (app) => {
      const chosen = await chooseDead(app.scripts, selection, context.global.realm);
      if (chosen.places.length === 0)
        throw usage(
          `There is no dead letter to retry${left(chosen)}. Nothing was done.`,
          'List them with `almoner dead list --all`.',
        );
      for (const ref of batchesOf(chosen.places))
        if (worksHere(app, ref, options.run)) await needRunnable(app, ref);
      output.note(`Retrying ${counted(chosen.places.length, 'dead letter')}…`);
      const tell = slowProgress(output.note, (done, of) => `${grouped(done)} of ${grouped(of)}`);
      const { reason: why = null, newAddress } = options;
      const by = { who: app.config.operator, why, newAddress };
      const { taken, refused } = await retryDead(app, chosen.places, by, (done) =>
        tell(done, chosen.places.length),
      );
      const statuses: BatchStatus[] = [];
      for (const ref of batchesOf(taken)) statuses.push(await goOn(context, app, ref, options.run));
      const workers = await countWorkers(app);
      output.print({
        json: {
          retried: taken.map(idOf),
          refused: refused.map((each) => ({ ...each, code: 'ALM_BATCH_NOT_RETRIED' })),
          batches: statuses,
          workers,
        },
        text: [
          `${counted(taken.length, 'order is', 'orders are')} back to work${left(chosen)}.`,
          ...(refused.length > 0 ? [`${counted(refused.length, 'order')} not retried:`] : []),
          ...refusalLines(refused),
          ...statuses.flatMap((status) => batchLines(status, output.colours)),
        ],
        next: nextOfRetry(statuses),
      });
      return exitOfRetry(statuses, refused.length, options.run);
    };
  },
});

/** A batch that a person paused stays paused, whatever was retried in it. */
async function goOn(context: CommandBase, app: App, ref: BatchRef, run: boolean): Promise<BatchStatus> {
  const status = await batchStatus(ref, { existing: true, config: app.config });
  if (!worksHere(app, ref, run) || status.state !== 'running') return status;
  const rate = profileOfBatch(app.config, ref)?.rate ?? null;
  return whilePaying(context, app, rate, (watch) => runExisting(app, ref, watch));
}

/** Nobody but a command ever works a rehearsal of its own. */
function worksHere(app: App, ref: BatchRef, run: boolean): boolean {
  return run || isRehearsalOfItsOwn(app.config, ref.ledger.realm);
}

function left({ discarded, doubts }: { discarded: number; doubts: number }): string {
  const parts = [
    ...(discarded > 0 ? [`${grouped(discarded)} discarded`] : []),
    ...(doubts > 0 ? [`${grouped(doubts)} in doubt`] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(' and ')} left alone)`;
}

/** Never the file: only who gave it knows where it is, and with which label and switches it is this batch. */
function nextOfRetry(statuses: readonly BatchStatus[]): string | null {
  if (statuses.length === 0) return 'almoner dead list --all';
  const ways = new Set(statuses.map((status) => batchNext(status)).filter((way) => way !== null));
  return ways.size === 0 ? null : [...ways].join('\n      ');
}

function exitOfRetry(statuses: readonly BatchStatus[], refused: number, run: boolean): ExitStatus {
  const worked = run ? statuses.map(exitOf).find((status) => status !== 0) : undefined;
  return worked ?? (refused > 0 ? 4 : 0);
}

export const discard = storeCommand({
  name: 'dead discard',
  description:
    'Marks dead letters as done with, giving a reason. They keep their state and are never retried; doubts are not touched.',
  arguments: ORDERS,
  options: { ...DEAD_OPTIONS, ...REASON },
  examples: ['almoner dead discard 7k3m9q2x4v8w-17 --reason "left the community"'],
  run: (context) => {
    const { output, args, options } = context;
    const selection = readSelection(args.ORDER, options);
    const why = needReason(options.reason);
    return async (app) => {
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
    };
  },
});

export const exportRows = storeCommand({
  name: 'dead export',
  description:
    'Writes the dead letters of a batch as CSV, like failed.csv: refused and exhausted ones that were neither discarded nor put into another file.',
  options: {
    batch: text('BATCH', 'a batch id, a unique prefix of one, or `last`'),
    out: text('FILE', 'where to write it (default: dead-BATCH.csv here)'),
  },
  examples: ['almoner dead export --batch last --out mended.csv'],
  run: (context) => {
    const { output, options, cwd } = context;
    const { batch } = options;
    if (batch === undefined) throw usage('Name the batch with --batch. Nothing was done.');
    return async (app) => {
      const ref = await findBatch(app.scripts, batch, context.global.realm);
      const name = options.out ?? `dead-${ref.id}.csv`;
      const file = await NewFile.begin(resolve(cwd, name));
      let rows = 0;
      try {
        ({ rows } = await exportDead(ref, (line) => file.add(line)));
        if (rows === 0) await file.discard();
        else await file.publish();
      } catch (error) {
        await file.discard();
        throw error;
      }
      const held = await heldByImports(app.scripts, [ref]);
      output.print({
        json: { batch: ref.id, file: rows === 0 ? null : file.path, rows },
        text: [
          rows === 0
            ? `Batch ${ref.id} has no dead letters to export; no file was written.`
            : `${counted(rows, 'dead letter')} written to ${name}.`,
          ...held.map(heldLine),
        ],
        next:
          rows === 0
            ? null
            : `mend the rows, then almoner run ${name}; it replaces them, so nobody is paid twice`,
      });
      return 0;
    };
  },
});
