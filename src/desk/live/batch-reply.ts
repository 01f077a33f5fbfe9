import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import { type BatchRef, type BatchView, type Manifest, readBatch } from '../../ledger/index.js';
import { isOver, type Standing } from '../../operations/batches/batch-status.js';
import { isoTime } from '../../words/spelling.js';
import type { BatchReply, BatchSummary } from '../api/index.js';

/** What of a manifest is shown. */
export function manifestReply(manifest: Manifest): BatchReply['manifest'] {
  const { credit, debit, transfer } = manifest.tokens;
  return {
    realmId: manifest.realmId,
    baseUrl: manifest.baseUrl,
    certainty: manifest.certainty,
    currency: manifest.currency,
    header: manifest.header,
    orders: manifest.orders,
    tokens: { credit: String(credit), debit: String(debit), transfer: String(transfer) },
    members: manifest.members,
    duplicates: manifest.duplicates,
    invalid: manifest.invalid,
    sha256: manifest.sha256,
    again: manifest.again,
    inOrder: manifest.inOrder,
  };
}

export async function sealedBatch(ref: BatchRef) {
  const view = await readBatch(ref);
  if (view !== undefined) return view;
  throw new AlmonerError('ALM_BATCH_NOT_FOUND', `Batch ${ref.id} was never completely imported.`);
}

export function actionsOn({ state, counts }: BatchSummary): BatchReply['can'] {
  return [
    ...(state === 'running' || state === 'planned' ? (['pause'] as const) : []),
    ...(state === 'paused' || state === 'halted' ? (['resume'] as const) : []),
    ...(isOver({ state }) ? [] : (['cancel'] as const)),
    'report',
    ...(state !== 'running' && (counts.paid ?? 0) > 0 ? (['undo'] as const) : []),
  ];
}

/** A batch in the few numbers that a list shows. */
export function batchSummary(
  view: BatchView,
  more: {
    readonly perSecond: number | null;
    readonly profile: RealmProfile | undefined;
    readonly still: Standing | null;
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
    etaSeconds: etaSeconds({ state, open: openCount(counts), perSecond, waiting, nowMs: more.nowMs }),
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
