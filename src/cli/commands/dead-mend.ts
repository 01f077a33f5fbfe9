import type { ExitStatus } from '../../core/errors/entry.js';
import type { BatchRef } from '../../ledger/index.js';
import { isRehearsalOfItsOwn, profileOfBatch } from '../../operations/batches/batch-realm.js';
import { batchStatus, exitOf } from '../../operations/batches/batch-status.js';
import { batchesOf, discardDead, retryDead } from '../../operations/dead/retry-discard.js';
import { chooseDead, type DeadSelection } from '../../operations/orders/dead-letters.js';
import { idOf } from '../../operations/orders/find-orders.js';
import { needRunnable, runExisting } from '../../operations/pay/run-batch.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import type { App } from '../../runtime/app.js';
import { counted, grouped } from '../../words/spelling.js';
import type { CommandBase } from '../frame/command.js';
import { storeCommand } from '../frame/open-app.js';
import { argumentList, flag, NEW_ADDRESS, needReason, REASON, text, usage } from '../frame/options.js';
import { whilePaying } from '../frame/while-paying.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import { refusalLines, slowProgress } from '../text/order-text.js';
import { readClass } from './dead.js';

/** The order ids that `dead retry` and `dead discard` take. */
const ORDERS = { ORDER: argumentList('order ids, as `almoner dead list` prints them') } as const;

const DEAD_OPTIONS = {
  batch: text('BATCH', 'all dead letters of this batch, doubts left alone'),
  class: text('CLASS', 'with --batch: only those of this error code'),
} as const;

/** Sends dead letters again. It never touches a doubt, whose payment may have been applied. */
export const retry = storeCommand({
  name: 'dead retry',
  description:
    'Puts dead letters back to work, never a doubt. The workers send them; --run sends them in this process.',
  arguments: ORDERS,
  options: {
    ...DEAD_OPTIONS,
    ...REASON,
    ...NEW_ADDRESS,
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
      for (const ref of batchesOf(taken)) statuses.push(await workIfRunning(context, app, ref, options.run));
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

/** Works the batch in this process where --run asks for it. A batch that a person paused stays paused. */
async function workIfRunning(
  context: CommandBase,
  app: App,
  ref: BatchRef,
  run: boolean,
): Promise<BatchStatus> {
  const status = await batchStatus(ref, app.config, { existing: true });
  if (!worksHere(app, ref, run) || status.state !== 'running') return status;
  const rate = profileOfBatch(app.config, ref)?.rate ?? null;
  return whilePaying(context, app, rate, (watch) => runExisting(app, ref, watch));
}

/** True where this process has to send. No worker takes a rehearsal, so that the command always works it itself. */
function worksHere(app: App, ref: BatchRef, run: boolean): boolean {
  return run || isRehearsalOfItsOwn(app.config, ref.ledger.realm);
}

/** Says how many orders of the selection are left alone: discarded ones and doubts. */
function left({ discarded, doubts }: { discarded: number; doubts: number }): string {
  const parts = [
    ...(discarded > 0 ? [`${grouped(discarded)} discarded`] : []),
    ...(doubts > 0 ? [`${grouped(doubts)} in doubt`] : []),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(' and ')} left alone)`;
}

/** The next steps name batches, never the file. Only the person who gave it knows its path, label and switches. */
function nextOfRetry(statuses: readonly BatchStatus[]): string | null {
  if (statuses.length === 0) return 'almoner dead list --all';
  const ways = new Set(statuses.map((status) => batchNext(status)).filter((way) => way !== null));
  return ways.size === 0 ? null : [...ways].join('\n      ');
}

/** The exit status of the worked batches where there was work; 4 where orders were refused. */
function exitOfRetry(statuses: readonly BatchStatus[], refused: number, run: boolean): ExitStatus {
  const worked = run ? statuses.map(exitOf).find((status) => status !== 0) : undefined;
  return worked ?? (refused > 0 ? 4 : 0);
}

/** Marks dead letters as done with. They keep their state and are never retried. */
export const discard = storeCommand({
  name: 'dead discard',
  description:
    'Marks dead letters as done with, giving a reason. They keep their state and are never retried; doubts are not touched.',
  arguments: ORDERS,
  options: { ...DEAD_OPTIONS, ...REASON },
  examples: ['almoner dead discard 7k3m9q2x4v8w-17 --reason "left the community"'],
  run: ({ output, args, options, global }) => {
    const selection = readSelection(args.ORDER, options);
    const why = needReason(options.reason);
    return async (app) => {
      const chosen = await chooseDead(app.scripts, selection, global.realm);
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

/** Reads either order ids or --batch with --class. */
function readSelection(
  orders: readonly string[],
  options: { readonly batch: string | undefined; readonly class: string | undefined },
): DeadSelection {
  const { batch } = options;
  if (batch !== undefined && orders.length > 0)
    throw usage('Give order ids or --batch, not both. Nothing was done.');
  if (batch !== undefined) return { batch, class: readClass(options.class) };
  if (options.class !== undefined) throw usage('--class needs --batch. Nothing was done.');
  if (orders.length === 0) throw usage('Name the orders, or a batch with --batch. Nothing was done.');
  return { orders };
}
