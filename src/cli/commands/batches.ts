import { setTimeout as sleep } from 'node:timers/promises';
import { inCurrency } from '../../core/currencies.js';
import { CLOSED } from '../../core/may-send.js';
import { BATCH_STATES, openCount } from '../../core/states.js';
import { type BatchRef, findBatch, readBatch } from '../../ledger/index.js';
import {
  type BatchFilter,
  batchStatus,
  exitOf,
  howManyBatches,
  statusPage,
} from '../../operations/batches/batch-status.js';
import {
  cancel as cancelBatch,
  cancelImport,
  pause as pauseBatch,
  resume as resumeBatch,
} from '../../operations/batches/steer.js';
import { waitingNow } from '../../operations/batches/waiting.js';
import { type UnfinishedImport, unfinishedImports } from '../../operations/orders/unfinished-imports.js';
import { missedNotes } from '../../operations/rules/missed-counts.js';
import { type ResumedRealms, resumeAfterRollback } from '../../operations/services/after-rollback.js';
import { allPaceNotes } from '../../operations/services/pace.js';
import { recoveryNotes } from '../../operations/services/recovery-state.js';
import { countWorkers } from '../../operations/services/run-workers.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import type { App } from '../../runtime/app.js';
import { withStopSignals } from '../../runtime/stop-signals.js';
import { amountsWords } from '../../words/amounts.js';
import { beginsWords } from '../../words/people.js';
import { counted, grouped } from '../../words/spelling.js';
import type { CommandBase, CommandContext } from '../frame/command.js';
import { storeCommand } from '../frame/open-app.js';
import { BATCH, choice, flag, optionalArgument, REASON, text, usage, wholeNumber } from '../frame/options.js';
import { Progress } from '../frame/progress.js';
import { readSince } from '../frame/since.js';
import { batchLines, batchNext, underWayLines } from '../text/batch-text.js';

const LIMIT_USUAL = 20;

/** Prints the newest batches, or one batch with its counts, sums and everything that waits. */
export const status = storeCommand({
  name: 'status',
  description:
    'The newest batches, or one: counts and sums per state, rate, remaining time; for a stopped batch the reason, since when, and the way out.',
  arguments: { BATCH: optionalArgument('a batch id, a unique prefix of one, or `last`') },
  options: {
    watch: flag('stay and show the progress until it ends, of the last batch where none is named'),
    state: choice(BATCH_STATES, 'only batches in this state'),
    since: text('DATE', 'only batches made from this day or time on, such as 2026-05-01 (UTC), or 30d, 12h'),
    limit: wholeNumber('N', `how many batches to list; ${LIMIT_USUAL} where nothing is said`, {
      min: 1,
      max: 10_000,
    }),
    cursor: text('CURSOR', 'goes on after the page that gave it (`next` of --json)'),
  },
  examples: ['almoner status', 'almoner status --state paused --since 30d', 'almoner status last --watch'],
  run: (context) => async (app) => {
    const { output, args, options } = context;
    if (args.BATCH === undefined && !options.watch) {
      await printList(context, app, options);
      return 0;
    }
    const ref = await findBatch(app.scripts, args.BATCH ?? 'last', context.global.realm, {
      lookingOnly: true,
    });
    if (options.watch) {
      await watch(context, app, ref);
    }
    const status = await batchStatus(ref, app.config);
    const [pace, recovery] = await Promise.all([
      allPaceNotes(app, status.realm),
      recoveryNotes(app, status.realm),
    ]);
    output.print({
      json: { ...status, pace, recovery },
      text: [...batchLines(status, output.colours), ...pace, ...recovery],
      next: batchNext(status),
    });
    // The exit status reflects the outcome only with --watch or for a halted batch. Otherwise a look ends with 0.
    return options.watch || status.state === 'halted' ? exitOf(status) : 0;
  },
});

type ListOptions = {
  readonly state?: BatchFilter['state'];
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
};

/** Prints the newest batches, then missed times and realms that need recovery. */
async function printList({ output, global }: CommandBase, app: App, options: ListOptions): Promise<void> {
  const { realm } = global;
  const { state, cursor: after, limit = LIMIT_USUAL } = options;
  const filter = { realm, state, sinceMs: readSince(options.since, Date.now()), after };
  const { batches, next } = await statusPage(app, filter, limit);
  const [total, missed, recovery, workers, pace, unfinished] = await Promise.all([
    howManyBatches(app, realm),
    missedNotes(app, realm),
    recoveryNotes(app, realm),
    countWorkers(app),
    allPaceNotes(app, realm),
    unfinishedImports(app.scripts, realm),
  ]);
  output.print({
    json: { batches, next, total, workers, pace, unfinished, missed, recovery },
    text: [
      ...listLines(batches, workers),
      ...moreLines(filter, batches.length, next, total),
      ...pace,
      ...unfinishedLines(unfinished),
      ...missed,
      ...recovery,
    ],
    next:
      recovery.length > 0
        ? 'almoner recover'
        : missed.length > 0
          ? 'almoner rules calendar'
          : batches.length === 0
            ? 'almoner plan FILE'
            : 'almoner status BATCH',
  });
}

/** Redraws the progress line until the batch ends or the person interrupts. */
async function watch({ stderr }: CommandBase, app: App, ref: BatchRef): Promise<void> {
  const profile = app.config.profiles.find(({ name }) => name === ref.ledger.realm.name);
  const progress = new Progress(stderr, profile?.rate ?? null);
  const waiting = waitingNow(ref, app.config);
  await withStopSignals(async (stop) => {
    for (;;) {
      const view = await readBatch(ref);
      if (view === undefined || stop.aborted) break;
      progress.showBatch(view, null, await waiting(view));
      if (view.state !== 'running' && view.state !== 'planned') break;
      await sleep(500);
    }
  });
  progress.end();
}

/** Says how many older batches are not listed. A filtered list has no count: counting would read every batch. */
function moreLines(
  { state, sinceMs, after }: BatchFilter,
  shown: number,
  next: string | null,
  total: number,
) {
  if (next === null) return [];
  const isWhole = state === undefined && sinceMs === null && after === undefined;
  const more = isWhole ? counted(total - shown, 'older batch', 'older batches') : 'Older batches';
  return [`${more}: almoner status --cursor ${next}, or --limit N lists more.`];
}

/** Imports that were cut off hold their references until they are finished or cancelled. */
function unfinishedLines(imports: readonly UnfinishedImport[]): string[] {
  return imports.map(
    ({ batch, realm, createdAt }) =>
      `${batch.padEnd(14)} ${realm.padEnd(12)} an import that did not finish (begun ${createdAt}): import the file again, or almoner cancel ${batch}`,
  );
}

/** One line a batch, and a warning where batches wait and no worker runs. */
function listLines(batches: readonly BatchStatus[], workers: number): string[] {
  if (batches.length === 0) return ['There is no batch yet.'];
  const rows = batches.map((one) => {
    const open = openCount(one.counts);
    const bad = (one.counts.refused ?? 0) + (one.counts.exhausted ?? 0);
    return [
      one.batch.padEnd(14),
      one.realm.padEnd(12),
      one.state.padEnd(10),
      `paid ${grouped(one.counts.paid ?? 0)}/${grouped(one.rows)}`.padEnd(22),
      open > 0 ? `open ${grouped(open)}` : '',
      bad > 0 ? `failed ${grouped(bad)}` : '',
      (one.counts.doubt ?? 0) > 0 ? `doubt ${grouped(one.counts.doubt ?? 0)}` : '',
      ...one.waiting.flatMap(({ why, orders }) =>
        why === 'doubt' ? [] : [`waiting ${grouped(orders)} (${why})`],
      ),
      `(${amountsWords(one.amounts)}${inCurrency(one.currency)})`,
      one.rehearsal ? 'REHEARSAL' : '',
      one.source,
    ]
      .filter((cell) => cell !== '')
      .join(' ');
  });
  const waiting = batches.some(
    ({ state, rehearsal }) => !rehearsal && (state === 'planned' || state === 'running'),
  );
  const idle =
    workers === 0 && waiting
      ? ['NO WORKER IS RUNNING, and work waits.']
      : [`${counted(workers, 'worker')} running`];
  return [...rows, ...idle];
}

/** Pauses a batch on all workers. Open requests finish first. */
export const pause = storeCommand({
  name: 'pause',
  description: 'Pauses a batch on all workers. Open requests finish; nothing new is sent.',
  arguments: BATCH,
  options: REASON,
  examples: ['almoner pause last --reason "wrong amounts?"'],
  run: (context) => async (app) => {
    const { output } = context;
    const { ref, by } = await steeredBatch(context, app);
    const { changed, status } = await pauseBatch(app.config, ref, by);
    output.print({
      json: { ...status, changed },
      text: [
        ...(changed ? [] : [`Batch ${status.batch} stands still already.`]),
        ...batchLines(status, output.colours),
        ...underWayLines(status),
      ],
      next: `almoner resume ${status.batch}, or almoner cancel ${status.batch}`,
    });
  },
});

/** Resumes a batch, or all first sends that wait after a rollback of the store. */
export const resume = storeCommand({
  name: 'resume',
  description:
    'Resumes a paused or halted batch, or hands an interrupted run to the workers. For a halted realm it reads the key again and tries one read first. A set time stays; --now begins early. --after-rollback resumes first sends after a rollback of the store.',
  arguments: { BATCH: optionalArgument('a batch id, a unique prefix of one, or `last`') },
  options: {
    ...REASON,
    now: flag('begin now instead of at the set time, also where that was missed'),
    afterRollback: flag(
      'every batch and schedule that waits since the store was rolled back; --realm: of one',
    ),
  },
  examples: ['almoner resume last', 'almoner resume last --now', 'almoner resume --after-rollback'],
  run: (context) => async (app) => {
    const { output, args, options } = context;
    const by = { who: app.config.operator, why: options.reason ?? null };
    if ((args.BATCH === undefined) !== options.afterRollback || (options.now && options.afterRollback))
      throw usage('Name a batch, or say --after-rollback, which keeps set times. Nothing was done.');
    if (args.BATCH === undefined) {
      const result = await resumeAfterRollback(app, context.global.realm, by);
      output.print({ json: result, text: afterRollbackLines(result), next: 'almoner status' });
      return;
    }
    const ref = await findBatch(app.scripts, args.BATCH, context.global.realm);
    const set = (await readBatch(ref))?.gate?.start ?? null;
    const { changed, status } = await resumeBatch(app, ref, by, { now: options.now });
    const workers = await countWorkers(app);
    output.print({
      json: { ...status, changed, workers },
      text: [
        resumedLine(changed, status, options.now ? beginsWords(set) : null),
        ...batchLines(status, output.colours),
      ],
      next: batchNext(status),
    });
  },
});

/** The realms whose first sends continue, and those that still need `almoner recover`. */
function afterRollbackLines({ resumed, closed }: ResumedRealms): string[] {
  const lines = resumed.map(
    ({ realm, batches }) =>
      `Realm ${realm}: first sends and schedules continue${batches.length === 0 ? '; no batch waited' : ` (${counted(batches.length, 'batch', 'batches')} waited: ${batches.join(', ')})`}.`,
  );
  const still = closed.map(
    (realm) => `Realm ${realm}: nothing can be resumed yet. Run \`almoner recover\` and decide what it asks.`,
  );
  return lines.length + still.length === 0 ? ['Nothing waits after a rollback.'] : [...lines, ...still];
}

/**
 * The line after `resume`. A batch that waits for an approval or for its set time stays idle, and the line says so.
 */
function resumedLine(changed: boolean, { batch, waiting }: BatchStatus, instead: string | null): string {
  const closed = waiting.find(({ why }) => CLOSED.some((one) => one === why));
  if (closed !== undefined) {
    const outcome = changed ? 'is resumed' : 'was not paused';
    const now = closed.why === 'approval' ? '' : ` To begin it now: almoner resume ${batch} --now.`;
    return `Batch ${batch} ${outcome}, but its first sends wait: ${closed.message}${now}`;
  }
  if (instead !== null) return `Batch ${batch} begins now instead of at ${instead}; the workers take it.`;
  return changed ? 'The workers resume it.' : `Batch ${batch} is already being worked.`;
}

/** Ends a batch for good. An import that has not finished is withdrawn instead. */
export const cancel = storeCommand({
  name: 'cancel',
  description:
    'Ends a batch for good. Open requests finish; unsent orders free their references. An unfinished import is withdrawn.',
  arguments: BATCH,
  options: REASON,
  examples: ['almoner cancel last --reason "wrong file"'],
  run: (context) => async (app) => {
    const { output } = context;
    const { ref, by } = await steeredBatch(context, app);
    const released = await cancelImport(ref, by);
    if (released !== null) {
      output.print({
        json: { ...released, state: 'cancelled', changed: true },
        text: `The import ${released.batch} had not finished. It is withdrawn: no order of it was sent, and its references are free.`,
        next: 'import the file again if it is to be paid after all',
      });
      return;
    }
    const { changed, status } = await cancelBatch(app.config, ref, by);
    const recovery = await recoveryNotes(app, status.realm);
    output.print({
      json: { ...status, changed },
      text: [
        ...(changed ? [] : [`Batch ${status.batch} was cancelled already.`]),
        ...batchLines(status, output.colours),
        ...underWayLines(status),
        ...recovery,
        `${recovery.length === 0 ? '' : 'As far as the store knows now, '}${counted(status.counts.cancelled ?? 0, 'order stays unsent; any reference it has is free again', 'orders stay unsent; any reference they have is free again')}.`,
      ],
      next: `almoner report ${status.batch}; unprocessed.csv holds what was not sent`,
    });
  },
});

/** Finds the batch that the person named, and records who steers it and why. */
async function steeredBatch(
  { args, options, global }: CommandContext<typeof BATCH, typeof REASON>,
  { scripts, config }: App,
) {
  const ref = await findBatch(scripts, args.BATCH, global.realm);
  return { ref, by: { who: config.operator, why: options.reason ?? null } };
}
