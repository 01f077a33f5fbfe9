import { AlmonerError } from '../../core/errors/error.js';
import { actsOn } from '../../core/may-send.js';
import type { RealmProfile } from '../../core/profile.js';
import { openCount } from '../../core/states.js';
import { etaSeconds, type Waiting } from '../../core/waiting.js';
import { type BatchRef, type Manifest, readBatch, type StoredBatch } from '../../ledger/index.js';
import { askedBy } from '../../operations/approvals/approvals.js';
import type { OwnedBatch } from '../../operations/batches/batch-realm.js';
import { batchProgress, digitsOf, isOver } from '../../operations/batches/batch-status.js';
import type { TokenEntry } from '../../operations/people/tokens.js';
import { beginsWords, whyNotSecond } from '../../words/people.js';
import { isoTime } from '../../words/spelling.js';
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
    fileSha256: manifest.fileSha256,
    table: manifest.table && { name: manifest.table.name, sha256: manifest.table.sha256 },
    again: manifest.again,
    inOrder: manifest.inOrder,
  };
}

export function gateReply(view: StoredBatch, tokens: readonly TokenEntry[]): BatchReply['gate'] {
  const gate = isOver(view) ? null : view.gate;
  if (gate === null && view.retry === null) return null;
  const preparer = askedBy(view);
  const closed = view.retry === null ? (gate?.closed ?? null) : 'approval';
  const start = gate?.start ?? null;
  const approved = gate?.request?.approved ?? null;
  const may = tokens.filter(
    (one) => closed === 'approval' && preparer !== null && whyNotSecond(one, preparer, 'prepared') === null,
  );
  return {
    closed,
    preparer,
    begins: beginsWords(start),
    approved: approved && { who: approved.who, at: isoTime(approved.at), ends: isoTime(approved.ends) },
    mayApprove: may.map(({ name }) => name),
  };
}

export async function sealedBatch(ref: BatchRef) {
  const view = await readBatch(ref);
  if (view !== undefined) return view;
  throw new AlmonerError('ALM_BATCH_NOT_FOUND', `Batch ${ref.id} was never completely imported.`);
}

/** Its realm is closed, or first sends wait for a person after a rollback: resuming the batch alone would be refused. */
export function waitsForRecovery(shown: StoredBatch): boolean {
  return !isOver(shown) && actsOn(shown.whyNot).has('recover');
}

/** `shown`: the batch as it stands from here. */
export function actionsOn(shown: StoredBatch): BatchReply['can'] {
  const { state, counts } = shown;
  const acts = actsOn(shown.whyNot);
  return [
    ...(state === 'running' || state === 'planned' ? (['pause'] as const) : []),
    ...(['resume', 'begin'] as const).filter((act) => !isOver(shown) && acts.has(act)),
    ...(isOver(shown) ? [] : (['cancel'] as const)),
    'report',
    ...(state !== 'running' && (counts.paid ?? 0) > 0 ? (['undo'] as const) : []),
  ];
}

/** A batch as the desk watches it. */
export function batchSummary(
  shown: OwnedBatch,
  more: {
    readonly perSecond: number | null;
    readonly profile: RealmProfile | undefined;
    readonly waiting: readonly Waiting[];
    readonly nowMs: number;
  },
): BatchSummary {
  const { waiting, nowMs } = more;
  const progress = batchProgress(shown, waiting);
  const { state } = progress;
  const perSecond = state === 'running' ? more.perSecond : null;
  return {
    ...progress,
    perSecond: perSecond === null ? null : Math.round(perSecond * 100) / 100,
    allowed: more.profile?.rate ?? null,
    etaSeconds: etaSeconds({ state, open: openCount(shown.counts), perSecond, waiting, nowMs }),
  };
}
