import type { RealmProfile } from '../../core/profile.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import type { BatchView, Reason } from '../../ledger/views.js';
import type { BatchSummary } from '../api-types.js';
import { iso } from '../orders/order-row.js';
import { openOf } from './settle-rates.js';

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
    createdAt: new Date(manifest.createdAt).toISOString(),
    createdBy: manifest.createdBy,
    startedAt: iso(view.startedAt),
    finishedAt: iso(view.finishedAt),
    archived: view.archived,
  };
}

function allowedPerSecond(profile: RealmProfile | undefined): number | null {
  if (profile?.rate == null) return null;
  const { requests, windowMs } = profile.rate;
  return (Math.max(1, requests - profile.rateReserve) / windowMs) * 1000;
}
