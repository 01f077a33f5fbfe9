import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteOutcome } from '../../core/outcome.js';
import { type BatchRef, readBatch } from '../../ledger/batches.js';
import { liveness } from '../../ledger/liveness.js';
import { listSessions, type Session } from '../../ledger/sessions.js';
import { pauseBatch, resumeBatch } from '../../ledger/steering.js';
import type { BatchView } from '../../ledger/views.js';
import { Crew } from '../../queue/crew.js';
import { reasonOf } from '../../queue/reasons.js';
import type { App, OpenRealm } from '../app.js';
import { letRealmGoOn } from './realm-halt.js';

/** Working off one batch in this process, until it is done, stands still, or a person interrupts. */
export type RunRequest = {
  readonly ref: BatchRef;
  readonly session: Session;
  readonly first: number | null;
  readonly concurrency: number;
  readonly who: string;
  readonly stop: AbortSignal;
  readonly onProgress: (view: BatchView, lastOutcome: WriteOutcome | null) => void;
};

export type RunEnd = 'worked' | 'watched' | 'over';

const POLL_MS = 150;

export async function runBatch(app: App, realm: OpenRealm, request: RunRequest): Promise<RunEnd> {
  const { ref, session } = request;
  const view = await readBatch(ref);
  if (view === undefined) throw new Error(`batch ${ref.id} is not sealed`);
  if (isOver(view)) return 'over';
  if (await isOwnedByLiving(ref, view.owner, session.id)) {
    await watch(request);
    return 'watched';
  }
  await session.register(ref.books);
  await letRealmGoOn(realm);
  await takeOver(request);
  const crew = new Crew({
    books: realm.books,
    profile: realm.profile,
    client: realm.client,
    session,
    run: ref,
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
  let paused = false;
  for (;;) {
    if (stop.aborted && !paused) {
      paused = true;
      await pauseBatch(ref.books, ref.no, INTERRUPTED, audit(request, 'interrupted'), request.session.id);
    }
    const view = await readBatch(ref);
    if (view === undefined) return;
    request.onProgress(view, lastTrouble());
    const { sending = 0, unknown = 0 } = view.counts;
    if (view.state === 'done') return;
    if (view.state === 'cancelled' && sending + unknown === 0) return;
    if ((view.state === 'paused' || view.state === 'halted') && sending === 0) return;
    await sleep(POLL_MS);
  }
}

async function watch(request: RunRequest): Promise<void> {
  while (!request.stop.aborted) {
    const view = await readBatch(request.ref);
    if (view === undefined || view.state !== 'running') return;
    request.onProgress(view, null);
    await sleep(POLL_MS);
  }
}

async function takeOver(request: RunRequest): Promise<void> {
  const { ref, session, first } = request;
  const limit =
    first === null
      ? {}
      : {
          first: {
            orders: first,
            reason: reasonOf(
              'ALM_BATCH_FIRST',
              `The first ${first} orders are through (--first). The rest stays planned.`,
            ),
          },
        };
  await resumeBatch(ref.books, ref.no, null, { owner: session.id, ...limit });
}

export async function isOwnedByLiving(ref: BatchRef, owner: string, self: string): Promise<boolean> {
  if (owner === '' || owner === self) return false;
  const entry = (await listSessions(ref.books)).find(({ id }) => id === owner);
  return entry !== undefined && (await liveness(entry)) !== 'dead';
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
