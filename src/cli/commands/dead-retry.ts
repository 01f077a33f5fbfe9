import type { BatchRef } from '../../ledger/index.js';
import { isRehearsalOfItsOwn, profileOfBatch } from '../../operations/batches/batch-realm.js';
import { type BatchStatus, batchStatus, exitOf } from '../../operations/batches/batch-status.js';
import { idOf } from '../../operations/batches/find-orders.js';
import { chooseDead } from '../../operations/dead/dead-letters.js';
import { batchesOf, retryDead } from '../../operations/dead/retry-discard.js';
import { needRunnable, runExisting } from '../../operations/pay/run-batch.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import type { App } from '../../runtime/app.js';
import { counted, grouped } from '../../words/spelling.js';
import { DEAD_OPTIONS, ORDERS, readSelection } from '../dead-options.js';
import { type CommandBase, defineCommand, type ExitStatus } from '../frame/command.js';
import { withApp } from '../frame/open-app.js';
import { flag, REASON, usage } from '../frame/options.js';
import { whilePaying } from '../pay.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import { refusalLines, slowProgress } from '../text/order-text.js';

export const command = defineCommand({
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
  run: async (context) => {
    const { output, args, options } = context;
    const selection = readSelection(args.ORDER, options);
    return withApp<ExitStatus>(context, 'dead-retry', async (app) => {
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
        next: next(statuses),
      });
      return exit(statuses, refused.length, options.run);
    });
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
function next(statuses: readonly BatchStatus[]): string | null {
  if (statuses.length === 0) return 'almoner dead list --all';
  const ways = new Set(statuses.map((status) => batchNext(status)).filter((way) => way !== null));
  return ways.size === 0 ? null : [...ways].join('\n      ');
}

function exit(statuses: readonly BatchStatus[], refused: number, run: boolean): ExitStatus {
  const worked = run ? statuses.map(exitOf).find((status) => status !== 0) : undefined;
  return worked ?? (refused > 0 ? 4 : 0);
}
