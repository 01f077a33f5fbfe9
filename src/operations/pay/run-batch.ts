import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteOutcome } from '../../core/outcome.js';
import type { Waiting } from '../../core/waiting.js';
import {
  type BatchRef,
  type BatchView,
  listSessions,
  pauseBatch,
  readBatch,
  resumeBatch,
  type Session,
} from '../../ledger/index.js';
import type { First } from '../../queue/own-run.js';
import { RealmWorker } from '../../queue/realm-worker.js';
import { reasonOf } from '../../queue/reasons.js';
import type { App, OpenRealm } from '../../runtime/app.js';
import { letRealmGoOn } from '../batches/realm-halt.js';
import { waitingNow } from '../batches/waiting.js';

/** Working off one batch in this process, until it is done, stands still, or a person interrupts. */
export type RunRequest = {
  readonly ref: BatchRef;
  readonly session: Session;
  readonly first: number | null;
  readonly concurrency: number;
  readonly who: string;
  readonly stop: AbortSignal;
  readonly onProgress: ShowProgress;
};

export type ShowProgress = (
  view: BatchView,
  lastTrouble: WriteOutcome | null,
  waiting: readonly Waiting[],
) => void;

export type RunEnd = 'worked' | 'watched' | 'over';

const POLL_MS = 150;
const OWNER_EVERY_LOOKS = 8;

export async function runBatch(app: App, realm: OpenRealm, request: RunRequest): Promise<RunEnd> {
  const { ref, session } = request;
  const first = request.first === null ? null : firstOf(request.first);
  for (;;) {
    const view = await readBatch(ref);
    if (view === undefined) throw new Error(`batch ${ref.id} is not sealed`);
    if (isOver(view)) return 'over';
    if (!(await isOwnedByLiving(ref, view.owner, session.id))) {
      await session.register(ref.ledger, realm.profile.settleMs);
      await letRealmGoOn(realm);
      if (await takeOver(request, view.owner, first)) break;
      // Another run was quicker, or the batch is over by now.
      continue;
    }
    // It only watches and begins nothing: nobody may have to wait for its journal.
    await session.deregister(ref.ledger);
    if ((await watch(request)) === 'still') return 'watched';
  }
  const crew = new RealmWorker({
    ledger: realm.ledger,
    profile: realm.profile,
    client: realm.client,
    session,
    run: ref,
    first,
    concurrency: request.concurrency,
    connect: (use) => app.store.connect(use),
    onTrouble: (message) => app.logger.warn({ message }, 'trouble'),
    onStalled: (error) => app.fail(error),
    limits: app.config.limits,
    onOutcome: (outcome) => {
      if (outcome.kind !== 'paid') lastTrouble = outcome;
    },
  });
  let lastTrouble: WriteOutcome | null = null;
  await crew.start();
  try {
    await untilStill({ ...request, stop: AbortSignal.any([request.stop, app.failed]) }, () => lastTrouble);
  } finally {
    await crew.stop(async () => {
      const end = await readBatch(ref);
      return end !== undefined && isOver(end);
    });
  }
  app.failed.throwIfAborted();
  return 'worked';
}

/** Waits until nothing more will happen; an interruption pauses the batch and waits for what is being sent. */
async function untilStill(request: RunRequest, lastTrouble: () => WriteOutcome | null): Promise<void> {
  const { ref, stop } = request;
  const waiting = waitingNow(ref);
  let paused = false;
  for (;;) {
    if (stop.aborted && !paused) {
      paused = true;
      await pauseBatch(ref.ledger, ref.no, INTERRUPTED, audit(request, 'interrupted'), request.session.id);
    }
    const view = await readBatch(ref);
    if (view === undefined) return;
    request.onProgress(view, lastTrouble(), await waiting(view));
    const { sending = 0, unknown = 0 } = view.counts;
    if (view.state === 'done') return;
    if (view.state === 'cancelled' && sending + unknown === 0) return;
    if ((view.state === 'paused' || view.state === 'halted') && sending === 0) return;
    await sleep(POLL_MS);
  }
}

/** Until the batch stands still, or the process that works it is gone without a word. */
async function watch({ ref, session, stop, onProgress }: RunRequest): Promise<'still' | 'orphaned'> {
  const waiting = waitingNow(ref);
  for (let looks = 0; !stop.aborted; looks++) {
    const view = await readBatch(ref);
    if (view === undefined || (view.state !== 'running' && view.state !== 'planned')) return 'still';
    onProgress(view, null, await waiting(view));
    const ownerAsked = view.owner !== '' && looks % OWNER_EVERY_LOOKS === OWNER_EVERY_LOOKS - 1;
    if (ownerAsked && !(await isOwnedByLiving(ref, view.owner, session.id))) return 'orphaned';
    await sleep(POLL_MS);
  }
  return 'still';
}

async function takeOver({ ref, session }: RunRequest, from: string, first: First | null): Promise<boolean> {
  const options = { owner: session.id, from, ...(first && { first }) };
  return (await resumeBatch(ref.ledger, ref.no, null, options)).done;
}

function firstOf(orders: number): First {
  const message = `${orders === 1 ? 'The first order is' : `The first ${orders} orders are`} through (--first). The rest stays planned.`;
  return { orders, reason: reasonOf('ALM_BATCH_FIRST', message) };
}

export async function isOwnedByLiving(ref: BatchRef, owner: string, self: string): Promise<boolean> {
  if (owner === '' || owner === self) return false;
  const entry = (await listSessions(ref.ledger)).find(({ id }) => id === owner);
  return entry !== undefined && (await ref.ledger.scripts.here.liveness(entry)) !== 'dead';
}

export function isOver(view: BatchView): boolean {
  return view.state === 'done' || view.state === 'cancelled';
}

const INTERRUPTED = reasonOf(
  'ALM_BATCH_INTERRUPTED',
  'The run was interrupted. What was being sent has finished; nothing else is being sent.',
);

function audit(request: RunRequest, what: string) {
  return { at: Date.now(), who: request.who, what, why: null };
}
