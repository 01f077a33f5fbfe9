import { AlmonerError } from '../core/errors/error.js';
import { type BatchRef, readBatch } from '../ledger/index.js';
import { changeHere, realmOfBatch } from '../operations/batches/batch-realm.js';
import { type BatchStatus, batchStatus } from '../operations/batches/batch-status.js';
import { reportBatch } from '../operations/batches/report.js';
import { runBatch } from '../operations/pay/run-batch.js';
import { refuseUnsafeStore } from '../operations/services/store-safety.js';
import type { App } from '../runtime/app.js';
import { listenForStop, stopDeadlineMs } from '../runtime/stop-signals.js';
import type { CommandBase } from './frame/command.js';
import { Progress } from './frame/progress.js';

/** Whoever moves orders first and works them off then asks this before: "nothing was done" must be true. */
export async function needWorkable(app: App, ref: BatchRef): Promise<void> {
  await refuseUnsafeStore(app);
  await realmOfBatch(app, ref);
  const view = await readBatch(ref);
  const changed = view === undefined ? null : changeHere(app.config, ref, view.manifest);
  if (changed !== null)
    throw new AlmonerError(changed.code, `${changed.message} Nothing was done.`, { next: changed.next });
}

/** Works a batch of the books off in this process, with progress, and writes its report. */
export async function workOff(context: CommandBase, app: App, ref: BatchRef): Promise<BatchStatus> {
  const realm = await realmOfBatch(app, ref);
  const signals = listenForStop(
    () => context.output.note('\nStopping: what is being sent finishes, nothing else is sent…'),
    stopDeadlineMs(app.config),
  );
  const progress = new Progress(process.stderr, realm.profile.rate);
  try {
    await runBatch(app, realm, {
      ref,
      session: await app.session('run'),
      first: null,
      concurrency: 64,
      who: app.config.operator,
      stop: signals.requested,
      onProgress: (...seen) => progress.show(...seen),
    });
  } finally {
    progress.end();
    signals.release();
  }
  const { folder } = await reportBatch(ref, realm.plans, app.config);
  return batchStatus(ref, { existing: true, report: folder });
}
