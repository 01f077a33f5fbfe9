import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteOutcome } from '../../core/classify.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import { CLOSED } from '../../core/may-send.js';
import type { Waiting } from '../../core/waiting.js';
import {
  type BatchRef,
  type planning,
  readBatch,
  recovery,
  type StoredBatch,
  steering,
} from '../../ledger/index.js';
import type { First } from '../../queue/batches.js';
import { reasonOf } from '../../queue/reasons.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import type { Config } from '../../runtime/config/config.js';
import { changeHere, letRealmGoOn, realmOfBatch } from '../batches/batch-realm.js';
import { batchStatus, isOver, isOwnerGone } from '../batches/batch-status.js';
import { reportBatch } from '../batches/report.js';
import { waitingNow } from '../batches/waiting.js';
import { record } from '../people/audit.js';
import { refuseUnsafeStore } from '../services/store-safety.js';
import type { BatchStatus } from '../views/batch.js';
import type { Planned } from './plan-file.js';
import { recordResumed, storeBatch } from './store-batch.js';

/** How a batch is worked in this process: until it is done, stands still, or a person interrupts. */
export type Watch = {
  /** Looked at now and then; nobody has to be told, so that a hundred runs of one process leave no listener behind. */
  readonly stop: Pick<AbortSignal, 'aborted'>;
  readonly onProgress: (
    view: StoredBatch,
    lastTrouble: WriteOutcome | null,
    waiting: readonly Waiting[],
  ) => void;
};

type RunRequest = Watch & {
  readonly ref: BatchRef;
  readonly session: recovery.Session;
  /** A person gave the orders of a batch again that was there. */
  readonly givenAgain: boolean;
};

/**
 * Orders under way at once where no pace limits them. Half of an order's time goes to the store and the journal, which take
 * more orders at a time the more there are: with 64 a run waited for their disks.
 */
const CONCURRENCY = 128;
const POLL_MS = 150;
/** After the last open order is answered, its settling takes a few milliseconds: the next looks come this quickly. */
const SOON_MS = 10;
const SOON_LOOKS = 10;
const OWNER_EVERY_LOOKS = 8;

export type PayRequest = Watch & {
  readonly batchId?: BatchId | null;
  readonly inOrder?: boolean;
  readonly first: number | null;
  /** Whether the report is written at the end. */
  readonly reports?: boolean;
};

/** Makes the batch of a confirmed plan, works it off, writes the report and says how it stands. */
export async function payPlan(
  app: App,
  realm: OpenRealm,
  planned: Planned,
  request: PayRequest & { readonly run?: planning.SealedRun | null },
): Promise<BatchStatus> {
  return inOwnSession(app, realm, async (own, session) => {
    const { batchId = null, inOrder = false, first, reports = true, run = null } = request;
    const { ref, existing } = await storeBatch(app, own, planned, { batchId, inOrder, session, run });
    return runToReport(
      app,
      own,
      { ...request, ref, session, givenAgain: existing },
      { first, existing, reports },
    );
  });
}

/** The same for a batch that is in the books already. */
export async function runExisting(app: App, ref: BatchRef, watch: Watch): Promise<BatchStatus> {
  const realm = await realmOfBatch(app, ref);
  return inOwnSession(app, realm, (own, session) => {
    const request = { ...watch, ref: { ...ref, ledger: own.ledger }, session, givenAgain: false };
    return runToReport(app, own, request, { first: null, existing: true, reports: true });
  });
}

/**
 * A process may run several batches at once, and one after the other. Each run is a session, which ends with it, so that
 * nobody waits for one that is idle; and it has a ledger of its own, which remembers what this session has seen.
 */
async function inOwnSession<T>(
  app: App,
  realm: OpenRealm,
  work: (own: OpenRealm, session: recovery.Session) => Promise<T>,
): Promise<T> {
  app.failed.throwIfAborted();
  const own = { ...realm, ...app.realmContext(realm.profile) };
  const session = await app.session('run');
  try {
    return await work(own, session);
  } finally {
    // Where the store is away, the session is found to be dead.
    await session.deregister(own.ledger).catch(() => {});
    await app.endSession(session);
  }
}

/** Asked by whoever moves orders first and runs their batch then: "nothing was done" must be true. */
export async function needRunnable(app: App, ref: BatchRef): Promise<void> {
  await refuseUnsafeStore(app);
  await realmOfBatch(app, ref);
  const view = await readBatch(ref);
  if (view?.whyNot.includes('after-rollback')) throw recovery.afterRollback.mustWait(ref.ledger);
  const changed = view === undefined ? null : changeHere(app.config, ref, view.manifest);
  if (changed !== null)
    throw new AlmonerError(changed.code, `${changed.message} Nothing was done.`, { next: changed.next });
}

async function runToReport(
  app: App,
  realm: OpenRealm,
  request: RunRequest,
  end: Required<Pick<PayRequest, 'first' | 'reports'>> & { readonly existing: boolean },
): Promise<BatchStatus> {
  const { ref } = request;
  const { first, existing, reports } = end;
  await runBatch(app, realm, request, first === null ? null : firstOf(first));
  // Of what has not begun there is nothing to report.
  const begun = (await readBatch(ref))?.gate == null;
  const report = reports && begun ? (await reportBatch(ref, app.config)).folder : null;
  return batchStatus(ref, app.config, { existing, report });
}

/** Answers whether this session works the batch; otherwise it is over, stands still, or another one has worked it. */
async function takeBatch(
  app: App,
  realm: OpenRealm,
  request: RunRequest,
  first: First | null,
): Promise<boolean> {
  const { ref, session } = request;
  for (;;) {
    const view = await readBatch(ref);
    if (view === undefined) throw forgotten(ref);
    // After a rollback it waits for a person, who does not say so by running the file again.
    if (isOver(view) || view.whyNot.includes('after-rollback')) return false;
    if (view.owner === session.id || (await isOwnerGone(ref, view.owner))) {
      await session.register(ref.ledger, realm.profile);
      await letRealmGoOn(realm);
      const options = { owner: session.id, from: view.owner, ...(first && { first }) };
      const resumed = await steering.batch.resume(ref, null, options);
      if (resumed.done && request.givenAgain) await recordResumed(app, ref, 'a run');
      if (resumed.done) return true;
      // It may not begin: it is the workers' now, and waits for a person or its time.
      if (CLOSED.some((why) => why === resumed.state)) return false;
      // Another run was quicker, or the batch is over by now.
      continue;
    }
    // It only watches and begins nothing: nobody may have to wait for its journal.
    await session.deregister(ref.ledger);
    if ((await watch(request, app.config)) === 'still') return false;
  }
}

async function runBatch(app: App, realm: OpenRealm, request: RunRequest, first: First | null): Promise<void> {
  const { ref, session } = request;
  if (!(await takeBatch(app, realm, request, first))) return;
  // BullMQ takes a third of a second to load: only who works a batch waits for it.
  const { realmWorker } = await import('../../queue/worker.js');
  const worker = realmWorker({
    ledger: realm.ledger,
    profile: realm.profile,
    client: realm.client,
    session,
    run: ref,
    first,
    concurrency: CONCURRENCY,
    connect: (use) => app.store.connect(use),
    onTrouble: (message) => app.logger.warn({ message }, 'trouble'),
    onStalled: (error) => app.fail(error),
    limits: app.config.limits,
    onOutcome: (outcome) => {
      answers.count();
      if (outcome.kind !== 'paid') lastTrouble = outcome;
    },
  });
  const answers = new OpenAnswers();
  let lastTrouble: WriteOutcome | null = null;
  try {
    await worker.start();
    const stop = {
      get aborted() {
        return request.stop.aborted || app.failed.aborted;
      },
    };
    await untilStill({ ...request, stop }, app, {
      answers,
      lastTrouble: () => lastTrouble,
      unsettled: () => worker.unsettled,
    });
  } finally {
    await worker.stop(async () => {
      const end = await readBatch(ref);
      return end !== undefined && isOver(end);
    });
  }
  app.failed.throwIfAborted();
}

/** Waits until nothing more will happen; an interruption pauses the batch and waits for what is being sent. */
async function untilStill(
  { ref, session, stop, onProgress }: RunRequest,
  app: App,
  of: { answers: OpenAnswers; lastTrouble: () => WriteOutcome | null; unsettled: () => number },
): Promise<void> {
  const waiting = waitingNow(ref, app.config);
  let paused = false;
  for (;;) {
    if (stop.aborted && !paused) {
      paused = true;
      const audit = { at: Date.now(), who: app.config.operator, what: 'interrupted', why: null };
      const { done } = await steering.batch.pause(ref, INTERRUPTED, audit, session.id);
      if (done) await recordInterrupted(app, ref);
    }
    const view = await readBatch(ref);
    if (view === undefined) throw forgotten(ref);
    onProgress(view, of.lastTrouble(), await waiting(view));
    if (isStill(view, paused, of.unsettled()) || (await isHandedOver(ref, view, session))) return;
    await of.answers.pause(view);
  }
}

async function recordInterrupted(app: App, ref: BatchRef): Promise<void> {
  const view = await readBatch(ref);
  const sums = { orders: view?.counts.planned ?? 0, tokens: view?.sums.planned ?? 0n };
  await record(app, {
    what: `interrupted the run of batch ${ref.id}`,
    why: null,
    batches: [ref.id],
    ...sums,
  });
}

/** Paces the looks of a run at its own batch: every POLL_MS, and at once when all open orders are answered. */
class OpenAnswers {
  private left = Number.POSITIVE_INFINITY;
  private soonLooks = 0;
  private wake = () => {};

  count(): void {
    this.left -= 1;
    if (this.left > 0) return;
    this.soonLooks = SOON_LOOKS;
    this.wake();
  }

  async pause({ counts: { planned = 0, sending = 0, unknown = 0 } }: StoredBatch): Promise<void> {
    this.left = planned + sending + unknown;
    if (this.soonLooks > 0) {
      this.soonLooks -= 1;
      return sleep(SOON_MS);
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/**
 * The batch is not this run's any more: it waits for its time or a person, or is the workers' by now. What this process is
 * sending finishes as it stops. In a store that came back with an earlier past the run may make it its own again (see OwnRun).
 */
async function isHandedOver(
  { ledger }: BatchRef,
  { owner }: StoredBatch,
  session: recovery.Session,
): Promise<boolean> {
  if (owner === session.id) return false;
  const { armed, era, seq } = await recovery.fence.read(ledger);
  return armed && era === ledger.mark.era && seq >= ledger.mark.seen;
}

/**
 * Nothing more happens by itself, and nothing is under way. What is unknown in a cancelled batch is resolved by the run
 * whose it is, unless that is to stop; one without is left to the workers, of which there may be none.
 */
function isStill(
  { state, owner, whyNot, counts: { sending = 0, unknown = 0 } }: StoredBatch,
  stops = false,
  /** Results that the store refuses: nothing is under way for them, and a run that stops leaves them to its stop. */
  unsettled = 0,
): boolean {
  const nothingSent = sending <= (stops ? unsettled : 0);
  if (state === 'cancelled') return nothingSent && (unknown === 0 || owner === '' || stops);
  // It was taken back, and is the workers' once another person has approved it.
  if (whyNot.includes('approval') && owner === '') return nothingSent;
  return state === 'done' || ((state === 'paused' || state === 'halted') && nothingSent);
}

function forgotten({ id }: BatchRef): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_PLAN_MISSING',
    `The store has forgotten batch ${id} while it was being paid: it was replaced, or put back to an earlier time. Nothing more is sent; what was sent stands in the journals of the data folder, which keep it from being paid again.`,
    {
      next: 'Give the same orders again: what was paid is put back first, and the rest is paid. Find out why the store lost writes.',
    },
  );
}

/** Until the batch stands still, or the process that works it is gone without a word. */
async function watch({ ref, stop, onProgress }: RunRequest, config: Config): Promise<'still' | 'orphaned'> {
  const waiting = waitingNow(ref, config);
  for (let looks = 0; !stop.aborted; looks++) {
    const view = await readBatch(ref);
    if (view === undefined) throw forgotten(ref);
    if (isStill(view)) return 'still';
    onProgress(view, null, await waiting(view));
    const ownerAsked = view.owner !== '' && looks % OWNER_EVERY_LOOKS === OWNER_EVERY_LOOKS - 1;
    // Of a batch that somebody has stopped, nobody goes on with the rest.
    if (ownerAsked && (await isOwnerGone(ref, view.owner)))
      return view.state === 'running' || view.state === 'planned' ? 'orphaned' : 'still';
    await sleep(POLL_MS);
  }
  return 'still';
}

function firstOf(orders: number): First {
  const message = `${orders === 1 ? 'The first order is' : `The first ${orders} orders are`} through (--first). The rest stays planned.`;
  return { orders, reason: reasonOf('ALM_BATCH_FIRST', message) };
}

const INTERRUPTED = reasonOf(
  'ALM_BATCH_INTERRUPTED',
  'The run was interrupted. What was being sent has finished; nothing else is being sent.',
);
