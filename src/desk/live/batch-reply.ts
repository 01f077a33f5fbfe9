import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import { type BatchRef, type Manifest, readBatch } from '../../ledger/index.js';
import type { OwnedBatch } from '../../operations/batches/batch-realm.js';
import { digitsOf, isOver, type Standing, toldOf } from '../../operations/batches/batch-status.js';
import type { BatchReply, BatchSummary } from '../api/index.js';

/** What of a manifest is shown. */
export function manifestReply(manifest: Manifest): BatchReply['manifest'] {
  return {
    realmId: manifest.realmId,
    baseUrl: manifest.baseUrl,
    certainty: manifest.certainty,
    currency: manifest.currency,
    header: manifest.header,
    orders: manifest.orders,
    tokens: digitsOf(manifest.tokens),
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
  view: OwnedBatch,
  more: {
    readonly perSecond: number | null;
    readonly profile: RealmProfile | undefined;
    readonly still: Standing | null;
    readonly waiting: readonly Waiting[];
    readonly nowMs: number;
  },
): BatchSummary {
  const { waiting, nowMs } = more;
  const told = toldOf(view, more.still);
  const { state } = told;
  const perSecond = state === 'running' ? more.perSecond : null;
  return {
    ...told,
    perSecond: perSecond === null ? null : Math.round(perSecond * 100) / 100,
    allowed: more.profile?.rate ?? null,
    etaSeconds: etaSeconds({ state, open: openCount(view.counts), perSecond, waiting, nowMs }),
    waiting,
    worker: view.owner === '' ? 'workers' : 'run',
    createdBy: view.manifest.createdBy,
  };
}
