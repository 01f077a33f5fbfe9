import type { RealmProfile } from '../../core/profile.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import type { BatchView, Fence, KnownRealm, PaceState, RealmState, Reason } from '../../ledger/index.js';
import { isoTime } from '../../words/spelling.js';
import type { BatchSummary, RealmCard } from '../api/index.js';
import type { SeenBatch } from './batch-views.js';
import type { PaceHistory } from './pace-history.js';
import { openOf } from './settle-rates.js';

/** A realm on the front page: its pace, what waits, and what wants attention. */
const UNLIMITED_WINDOW_MS = 60_000;

export function realmCard(facts: {
  readonly owner: KnownRealm;
  readonly profile: RealmProfile | undefined;
  readonly state: RealmState;
  readonly fence: Fence;
  readonly batches: readonly SeenBatch[];
  readonly pace: PaceHistory;
  readonly limits: PaceState;
  readonly now: number;
}): RealmCard {
  const { owner, profile, state, fence, batches, pace, limits, now } = facts;
  const allowed = limits.learnt ?? profile?.rate ?? null;
  const sum = (count: (batch: SeenBatch) => number) => batches.reduce((all, batch) => all + count(batch), 0);
  const unsettled = batches.filter(({ view }) => isOpen(view.state) && openOf(view) > 0);
  const oldest = Math.min(...unsettled.map(({ view }) => view.manifest.createdAt));
  return {
    realm: profile?.name ?? owner.name,
    realmId: owner.realmId,
    baseUrl: owner.baseUrl,
    rehearsal: owner.rehearsal,
    configured: profile !== undefined,
    certainty: profile?.certainty ?? null,
    currency: profile?.currency ?? null,
    halt: state.halt,
    breakerSince: isoTime(state.breakerSince),
    fence: fence.untouched ? null : { armed: fence.armed, reason: fence.reason },
    pace: {
      allowed: allowed === null ? null : { requests: allowed.requests, windowMs: allowed.windowMs },
      configured: profile?.rate ?? null,
      learntBy: limits.learnt?.by ?? null,
      others: limits.others,
      holdSeconds: Math.ceil(limits.holdMs / 1000),
      used: pace.within(allowed?.windowMs ?? UNLIMITED_WINDOW_MS, now),
      recent: pace.slices(now),
    },
    waiting: sum((batch) => (isForWorkers(batch) ? openOf(batch.view) : 0)),
    queued: sum(({ view, dispatched }) => (isOpen(view.state) ? dispatched : 0)),
    dead: sum(({ view: { counts } }) => (counts.refused ?? 0) + (counts.exhausted ?? 0)),
    doubts: sum(({ view: { counts } }) => counts.doubt ?? 0),
    oldestUnsettledAt: unsettled.length === 0 ? null : isoTime(oldest),
  };
}

/** Would be sent if only somebody did it. */
export function isForWorkers({ view }: SeenBatch): boolean {
  return view.owner === '' && (view.state === 'planned' || view.state === 'running');
}

function isOpen(state: string): boolean {
  return state !== 'done' && state !== 'cancelled';
}

/** A batch in the few numbers that a list shows. */
export function batchSummary(
  view: BatchView,
  more: {
    readonly perSecond: number | null;
    readonly profile: RealmProfile | undefined;
    readonly still: { readonly state: 'paused' | 'halted'; readonly reason: Reason } | null;
    readonly waiting: readonly Waiting[];
    readonly nowMs: number;
  },
): BatchSummary {
  const { manifest, counts, sums } = view;
  const { waiting } = more;
  const state = more.still?.state ?? view.state;
  const perSecond = state === 'running' ? more.perSecond : null;
  return {
    batch: manifest.batch,
    realm: manifest.realm,
    rehearsal: manifest.rehearsal,
    state,
    reason: more.still?.reason ?? view.reason,
    source: manifest.source,
    rows: manifest.rows,
    counts,
    tokens: Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, String(sum)])),
    requests: view.requests,
    retries: view.retries,
    rateLimited: view.rateLimited,
    perSecond: perSecond === null ? null : Math.round(perSecond * 100) / 100,
    allowedPerSecond: allowedPerSecond(more.profile),
    etaSeconds: etaSeconds({ state, open: openOf(view), perSecond, waiting, nowMs: more.nowMs }),
    waiting,
    notes: view.notes ?? [],
    mode: manifest.mode,
    createdAt: isoTime(manifest.createdAt),
    createdBy: manifest.createdBy,
    startedAt: isoTime(view.startedAt),
    finishedAt: isoTime(view.finishedAt),
    archived: view.archived,
  };
}

function allowedPerSecond(profile: RealmProfile | undefined): number | null {
  if (profile?.rate == null) return null;
  const { requests, windowMs } = profile.rate;
  return (Math.max(1, requests - profile.rateReserve) / windowMs) * 1000;
}
