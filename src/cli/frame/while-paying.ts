import type { ExitStatus } from '../../core/errors/entry.js';
import type { Rate } from '../../core/profile.js';
import { exitOf } from '../../operations/batches/batch-status.js';
import type { Watch } from '../../operations/pay/run-batch.js';
import type { BatchStatus } from '../../operations/views/batch.js';
import type { App } from '../../runtime/app.js';
import { stopDeadlineMs, withStopSignals } from '../../runtime/stop-signals.js';
import { counted } from '../../words/spelling.js';
import { batchLines, batchNext } from '../text/batch-text.js';
import type { CommandBase } from './command.js';
import { Progress } from './progress.js';

/** Pays with a progress line on stderr. Ctrl-C lets open requests finish and stops new ones. */
export async function whilePaying<T>(
  { output, stderr }: CommandBase,
  { config }: App,
  rate: Rate | null,
  pay: (watch: Watch) => Promise<T>,
): Promise<T> {
  const progress = new Progress(stderr, rate);
  try {
    return await withStopSignals(
      (stop) => pay({ stop, onProgress: (...seen) => progress.showBatch(...seen) }),
      () => output.note('\nStopping: what is being sent finishes, nothing else is sent…'),
      stopDeadlineMs(config),
    );
  } finally {
    progress.end();
  }
}

/** Prints the state of the batch that this process paid, and returns the matching exit status. */
export function printPaid(
  { output }: CommandBase,
  status: BatchStatus,
  rerun: string,
  more: { readonly json?: object; readonly lines?: readonly string[] },
): ExitStatus {
  const interrupted = status.reason?.code === 'ALM_BATCH_INTERRUPTED';
  const paid = counted(status.counts.paid ?? 0, 'order was', 'orders were');
  output.print({
    json: { ...status, ...more.json },
    text: [
      ...(more.lines ?? []),
      ...batchLines(status, output.colours),
      ...(interrupted ? [`${paid} paid. Nothing else is being sent.`] : []),
    ],
    next: batchNext(status, rerun),
  });
  return exitOf(status);
}
