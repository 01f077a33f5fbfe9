import type { RealmProfile } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import type { Fence, KnownRealm, PaceState, RealmState } from '../../ledger/index.js';
import { isOver } from '../../operations/batches/batch-status.js';
import { isoTime } from '../../words/spelling.js';
import type { RealmCard } from '../api/index.js';
import type { SeenBatch } from './batch-views.js';
import type { PaceHistory } from './rates.js';

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
  const unsettled = batches.filter(({ view }) => !isOver(view) && openCount(view.counts) > 0);
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
    waiting: sum((batch) => (isForWorkers(batch) ? openCount(batch.view.counts) : 0)),
    queued: sum(({ view, dispatched }) => (isOver(view) ? 0 : dispatched)),
    dead: sum(({ view: { counts } }) => (counts.refused ?? 0) + (counts.exhausted ?? 0)),
    doubts: sum(({ view: { counts } }) => counts.doubt ?? 0),
    oldestUnsettledAt: unsettled.length === 0 ? null : isoTime(oldest),
  };
}

/** Whether its orders would be sent if only a worker ran. */
export function isForWorkers({ view }: SeenBatch): boolean {
  return view.owner === '' && (view.state === 'planned' || view.state === 'running');
}
