import type { ExitStatus } from '../../core/errors/entry.js';
import { AlmonerError } from '../../core/errors/error.js';
import { WHY_NOT } from '../../core/may-send.js';
import { CONCLUSIONS } from '../../core/presence.js';
import { type BatchState, openCount } from '../../core/states.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import {
  type BatchRef,
  type BatchView,
  lists,
  readBatch,
  reading,
  recovery,
  type StoredBatch,
} from '../../ledger/index.js';
import { reasonOf } from '../../queue/reasons.js';
import type { App } from '../../runtime/app.js';
import { isoTime } from '../../words/spelling.js';
import { deadGone } from '../orders/dead-letters.js';
import type { BatchProgress, BatchStatus } from '../views/batch.js';
import { byTermsHere, heldBackBy, type OwnedBatch, type Profiles } from './batch-realm.js';
import { waitingOf, waitingOfAll } from './waiting.js';

/** A batch as every face shows it. */
export function batchProgress(view: OwnedBatch, waiting: readonly Waiting[]): BatchProgress {
  const { manifest, requests, retries, rateLimited, recovered, archived } = view;
  const { batch, realm, rehearsal, currency, source, rows, again, createdBy } = manifest;
  return {
    ...{ batch, realm, rehearsal, currency, source, rows, again, createdBy },
    ...{ requests, retries, rateLimited, recovered, archived, waiting },
    state: view.state,
    reason: view.reason,
    counts: view.counts,
    tokens: digitsOf(view.sums),
    amounts: digitsOf(manifest.tokens),
    notes: view.notes ?? [],
    worker: view.owner === '' ? 'workers' : 'run',
    createdAt: isoTime(manifest.createdAt),
    startedAt: isoTime(view.startedAt),
    finishedAt: isoTime(view.finishedAt),
  };
}

/** Sums as the digits that JSON can carry. */
export function digitsOf<S extends Readonly<Partial<Record<string, bigint>>>>(sums: S) {
  const entries = Object.entries(sums).map(([name, sum]) => [name, String(sum)]);
  return Object.fromEntries(entries) as { readonly [name in keyof S]: string };
}

export async function batchStatus(
  ref: BatchRef,
  config: Profiles,
  more: { existing?: boolean; report?: string | null } = {},
): Promise<BatchStatus> {
  const view = await readBatch(ref);
  if (view === undefined)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was never completely imported. Nothing of it was sent.`,
      { next: 'Import the file again, or `almoner cancel` it.' },
    );
  const [shown, waiting] = await Promise.all([shownHere(ref, view, config), waitingOf(ref, config, view)]);
  return statusOf({ ref, view, shown }, waiting, more);
}

async function statusOf(
  { ref, view, shown }: MadeBatch,
  waiting: readonly Waiting[],
  more: { existing?: boolean; report?: string | null } = {},
): Promise<BatchStatus> {
  const progress = batchProgress(shown, waiting);
  return {
    ...progress,
    existing: more.existing ?? false,
    etaSeconds: await eta(ref, view, progress.state, waiting),
    report: more.report ?? null,
    deadGone: hasDead(view) ? await deadGone(ref) : null,
  };
}

export type BatchFilter = {
  readonly realm?: string | undefined;
  readonly state?: BatchState | undefined;
  /** Only batches that were made since then. */
  readonly sinceMs?: number | null | undefined;
  /** Goes on after this place; see placeOf. */
  readonly after?: string | undefined;
};

/** Those that are completely imported, newest first. They are read as far as they are asked for. */
export async function* batchesMade(
  { scripts, config }: Pick<App, 'scripts' | 'config'>,
  { realm, state, sinceMs, after }: BatchFilter,
): AsyncGenerator<MadeBatch> {
  const list = state !== undefined && !isOver({ state }) ? 'open' : null;
  for await (const refs of inGroups(lists.batchesOfAll(scripts, { realm, after, list }), READ_AT_ONCE)) {
    const young = refs.filter(({ madeAt }) => madeAt >= (sinceMs ?? 0));
    const found = await Promise.all(
      young.map(async (ref) => {
        const view = await readBatch(ref);
        return view === undefined ? [] : [{ ref, view, shown: await shownHere(ref, view, config) }];
      }),
    );
    for (const made of found.flat()) if (state === undefined || made.shown.state === state) yield made;
    if (young.length < refs.length) return;
  }
}

type MadeBatch = {
  readonly ref: BatchRef;
  readonly view: StoredBatch;
  /** As it stands from here. */
  readonly shown: StoredBatch;
};

const READ_AT_ONCE = 20;

async function* inGroups<One>(all: AsyncIterable<One>, size: number): AsyncGenerator<One[]> {
  let group: One[] = [];
  for await (const one of all) {
    group.push(one);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** One page of them, and the place to go on from. */
export async function statusPage(app: App, filter: BatchFilter, limit: number) {
  const page: MadeBatch[] = [];
  let hasMore = false;
  for await (const made of batchesMade(app, filter)) {
    hasMore = page.length === limit;
    if (hasMore) break;
    page.push(made);
  }
  const waiting = await waitingOfAll(page, app.config);
  const batches = await Promise.all(page.map((made, at) => statusOf(made, waiting[at] ?? [])));
  const last = page.at(-1);
  return { batches, next: hasMore && last !== undefined ? lists.placeOf(last.ref) : null };
}

/** How many batches the books hold, unfinished imports included. */
export async function howManyBatches({ scripts }: Pick<App, 'scripts'>, realm?: string): Promise<number> {
  const counts = await Promise.all((await lists.ledgersNamed(scripts, realm)).map(lists.countBatches));
  return counts.reduce((sum, { batches }) => sum + batches, 0);
}

/** Nothing of an archive can be retried or mended, whatever it says. */
function hasDead({ archived, counts }: BatchView): boolean {
  return !archived && (counts.refused ?? 0) + (counts.exhausted ?? 0) > 0;
}

const INTERRUPTED = reasonOf('ALM_BATCH_INTERRUPTED', WHY_NOT.interrupted.says);

/** A batch as it stands: it may stand still although the ledger does not say so yet, because nobody is there who would tell it. */
export async function shownHere<Batch extends OwnedBatch>(
  ref: BatchRef,
  view: Batch,
  config: Profiles,
): Promise<Batch> {
  if (await isInterrupted(ref, view)) return heldBackBy(view, 'interrupted', INTERRUPTED);
  return byTermsHere(config, ref, view);
}

export function isOver({ state }: Pick<BatchView, 'state'>): boolean {
  return state === 'done' || state === 'cancelled';
}

/** A run whose process is proven dead stands still, whatever its last word was. */
export async function isInterrupted(ref: BatchRef, view: OwnedBatch): Promise<boolean> {
  if (view.owner === '' || (view.state !== 'running' && view.state !== 'planned')) return false;
  return isOwnerGone(ref, view.owner);
}

/** Whether another run may take the batch over. A batch of the workers has no owner, and an ended run is unregistered. */
export async function isOwnerGone({ ledger }: BatchRef, owner: string): Promise<boolean> {
  const presence = owner === '' ? null : await recovery.sessions.presence(ledger, owner);
  return presence === null || CONCLUSIONS[presence].orders === 'may be taken over';
}

/** At the rate of the run so far, without the time in which it stood still. */
async function eta(
  ref: BatchRef,
  view: BatchView,
  state: BatchView['state'],
  waiting: readonly Waiting[],
): Promise<number | null> {
  const open = openCount(view.counts);
  const nowMs = Date.now();
  const elapsedMs = view.startedAt === null ? 0 : nowMs - view.startedAt;
  const workedMs = Math.min(elapsedMs, await reading.progress.settlingMs(ref, view.manifest.sliceMs));
  const settled = view.manifest.rows - open;
  const perSecond = settled > 0 && elapsedMs > 1000 && workedMs > 0 ? settled / (workedMs / 1000) : null;
  return etaSeconds({ state, open, perSecond, waiting, nowMs });
}

/** 0 every order paid or duplicate · 4 some dead, in doubt, invalid or cancelled · 5 halted or paused, or not over yet · 130 interrupted */
export function exitOf(status: BatchStatus): ExitStatus {
  const { state, reason, counts } = status;
  // It waits for its time or a person, or is the workers' by now.
  if (state === 'planned' || state === 'running') return 5;
  if (state === 'halted' || state === 'paused') return reason?.code === 'ALM_BATCH_INTERRUPTED' ? 130 : 5;
  const states = ['refused', 'exhausted', 'doubt', 'invalid', 'cancelled'] as const;
  const bad = states.some((name) => (counts[name] ?? 0) > 0);
  return bad || state === 'cancelled' ? 4 : 0;
}
