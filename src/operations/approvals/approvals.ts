import { approvalHash } from '../../core/approvals.js';
import { AlmonerError } from '../../core/errors/error.js';
import { endOfWork, quietUntil } from '../../core/quiet-hours.js';
import { spellMoment } from '../../core/zones.js';
import { type BatchRef, lists, readBatch, reading, type StoredBatch, steering } from '../../ledger/index.js';
import { requestsFor, secondsFor } from '../../planning/preview.js';
import type { App } from '../../runtime/app.js';
import { afterApprovalWords } from '../../words/people.js';
import { counted } from '../../words/spelling.js';
import { realmOfBatch } from '../batches/batch-realm.js';
import { retriesOf } from '../dead/retries.js';
import { record } from '../people/audit.js';
import { isKnown, personWith, revoked } from '../people/who.js';
import { openForJudging } from '../services/recovery.js';
import { differenceToLast } from './difference.js';

/**
 * Approvals of batches, and of retries of their dead letters: what waits, what an approver is shown, approving and refusing.
 * The ledger compares the hash of what was shown (ledger/moves/approvals.ts); rules are approved in operations/rules.
 */

/** Batches that wait for one, oldest first. */
export async function waitingForApproval(app: App): Promise<{ ref: BatchRef; view: StoredBatch }[]> {
  const found = await Promise.all(
    (await lists.everyBatchIn(app.scripts, ['asks'])).map(async (ref) => {
      const view = await readBatch(ref);
      return view !== undefined && waitsForApproval(view) ? [{ ref, view }] : [];
    }),
  );
  return found.flat().sort((one, other) => one.view.manifest.createdAt - other.view.manifest.createdAt);
}

/** Also one that is paused: resumed, it still waits. And one whose dead letters are to be retried. */
export function waitsForApproval({ whyNot, retry }: StoredBatch): boolean {
  return retry !== null || whyNot.includes('approval');
}

/** What an approval would be for: all that is to be sent, or the dead letters that are to be retried. */
export function payableOf({ retry, counts, sums }: StoredBatch) {
  if (retry === null) return { orders: counts.planned ?? 0, tokens: sums.planned ?? 0n };
  return { orders: retry.orders ?? 0, tokens: BigInt(retry.tokens ?? 0) };
}

/** Who asks for the approval: who prepared the batch, or asked for the retry. */
export function askedBy({ gate, retry }: StoredBatch): string | null {
  return retry === null ? (gate?.preparer ?? null) : retry.who || null;
}

/** Why it would not begin even with an approval. */
export function heldBy({ state, reason }: StoredBatch) {
  if (state !== 'paused' && state !== 'halted') return null;
  return { state, message: reason?.message ?? `The batch is ${state}.` };
}

/** What a second person is shown: the same that the first one saw. */
export async function previewApproval(app: App, ref: BatchRef) {
  const view = await readBatch(ref);
  if (view === undefined)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was never completely imported. Nothing was approved.`,
    );
  const { profile } = await realmOfBatch(app, ref);
  const { manifest } = view;
  const { retry, retried, orders, tokens, hash } = await subjectOf(ref, view);
  const { credit, debit, transfer } = manifest.orders;
  const requests = requestsFor(orders, manifest.orders, manifest.certainty);
  const seconds = secondsFor(requests, profile, 0);
  const { quietHours, timezone } = profile;
  const start = view.gate?.start ?? null;
  const now = Date.now();
  const begins = Math.max(start?.at ?? 0, now);
  const quiet = quietUntil(quietHours, begins);
  return {
    view,
    profile,
    orders,
    tokens,
    /** An approval names it, and is taken for nothing else. */
    hash,
    /** The dead letters that are to be retried; null where the whole batch waits. */
    letters: retried?.letters ?? null,
    /** Dead letters were retried, discarded or died again since: the request is for others than these. */
    isOutdated: retried !== null && retried.hash !== retry?.hash,
    asked: { who: askedBy({ ...view, retry }), why: retry?.why ?? null, at: retry?.at ?? manifest.createdAt },
    requests,
    seconds,
    endsAt: endOfWork(quietHours, begins, seconds * 1000),
    after: afterApprovalWords({
      letters: retried === null ? null : orders,
      who: askedBy({ ...view, retry }),
      held: heldBy(view)?.message ?? null,
      start,
      now,
      quietUntil: quiet === null ? null : spellMoment(quiet, timezone),
    }),
    past: await reading.totals.paidEver(ref.ledger),
    /** What is to be sent, apart by what it does; null for the rest of a batch that does several things. */
    amounts:
      retried === null && manifest.duplicates === 0 && orders === credit + debit + transfer
        ? manifest.tokens
        : null,
    difference: await differenceToLast(ref, view),
  };
}
export type Approval = Awaited<ReturnType<typeof previewApproval>>;

/**
 * What an approval would be for: the retry that was asked for, or all that is still to be sent. A retry that was asked for
 * others than its dead letters are now can only be refused.
 */
async function subjectOf(ref: BatchRef, view: StoredBatch) {
  const { retry } = view;
  const retried =
    retry === null ? null : await retriesOf(ref, await steering.approvals.requestedRetries(ref));
  if (retry !== null && retried !== null)
    return {
      kind: 'retry' as const,
      retry,
      retried,
      orders: retried.letters.length,
      tokens: retried.tokens,
      hash: retry.hash,
    };
  const payable = payableOf({ ...view, retry: null });
  const { confirmed } = view;
  const hash = approvalHash('batch', { confirmed, ...payable, retried: view.retried });
  return { kind: 'batch' as const, retry: null, retried: null, ...payable, hash };
}

/** `shown`: the hash of what the approver was shown. */
export async function approve(app: App, ref: BatchRef, shown: string): Promise<void> {
  const { name: who } = await personWith(app, 'approver');
  await openForJudging(app, (await realmOfBatch(app, ref)).profile);
  const view = await readBatch(ref);
  if (view === undefined) throw gone(ref);
  const { kind, retried, orders, tokens, hash } = await subjectOf(ref, view);
  const what = kind === 'batch' ? 'approved the batch' : 'approved a retry of dead letters';
  const sums = `${counted(orders, 'order')}, ${counted(tokens, 'token')}`;
  const audit = { at: Date.now(), who, what: `${what}: ${sums}`, why: null };
  if (hash !== shown) throw changed(ref, 'approved');
  const sealed = view.recovered ? '' : view.confirmed;
  const by =
    kind === 'batch'
      ? { hash: sealed, shown: { orders, tokens, retried: view.retried } }
      : { hash: retried.hash };
  const answer = await steering.approvals.approve({ kind, batch: ref }, { who, ...by }, audit);
  // Revoked in this very moment, they have approved nothing: the revoking has withdrawn what there was before.
  if (!(await isKnown(app, who, 'approver'))) {
    await steering.approvals.withdrawApprovals(app.scripts, who);
    throw revoked(who);
  }
  switch (answer) {
    case 'approved':
      return record(app, { what, why: null, batches: [ref.id], orders, tokens });
    case 'same-person':
      throw new AlmonerError(
        'ALM_PEOPLE_SAME',
        `${who} ${kind === 'batch' ? `prepared a part of batch ${ref.id}` : `asked for this retry of batch ${ref.id}`}. Nothing was approved.`,
      );
    case 'nameless':
      throw new AlmonerError(
        'ALM_PEOPLE_NAMELESS',
        `Batch ${ref.id} was prepared, or an order of it was retried, without a token, so that a second person cannot be told from the first. Nothing was approved.`,
        { next: `Cancel it with \`almoner cancel ${ref.id}\`, and make it again with ALMONER_TOKEN set.` },
      );
    case 'changed':
      throw changed(ref, 'approved');
    case 'not-needed':
      throw new AlmonerError(
        'ALM_PEOPLE_NOT_NEEDED',
        `Batch ${ref.id} does not wait for an approval: it needs none, or has one already. Nothing was done.`,
      );
    case 'disarmed':
      throw new AlmonerError(
        'ALM_LEDGER_DISARMED',
        'The store was restarted or restored, and journals that may know of payments are not merged yet. Nothing was approved.',
      );
    case 'gone':
      throw gone(ref);
  }
}

function changed({ id }: BatchRef, not: 'approved' | 'refused'): AlmonerError {
  return new AlmonerError(
    'ALM_PEOPLE_CHANGED',
    `Batch ${id} is not what was shown: its orders, its dead letters or the store are others by now. Nothing was ${not}.`,
  );
}

function gone({ id }: BatchRef): AlmonerError {
  return new AlmonerError(
    'ALM_BATCH_CANNOT',
    `Batch ${id} is over, or was never completely imported. Nothing was approved.`,
  );
}

/** Refuses what `shown` is the hash of. A refused batch is cancelled, if it still waits; dead letters whose retry is refused stay dead. */
export async function refuse(app: App, ref: BatchRef, shown: string, why: string): Promise<void> {
  const { name: who } = await personWith(app, 'approver');
  const view = await readBatch(ref);
  if (view === undefined) throw gone(ref);
  const { kind, orders, tokens, hash } = await subjectOf(ref, view);
  if (hash !== shown) throw changed(ref, 'refused');
  const audit = (what: string) => ({ at: Date.now(), who, what, why });
  const retry = { kind: 'retry', batch: ref } as const;
  const answer =
    kind === 'batch'
      ? (await steering.batch.cancel(ref, audit('refused, and cancelled by that'), 'unapproved')).done &&
        'rejected'
      : await steering.approvals.rejectApproval(retry, shown, audit('refused the retry of its dead letters'));
  if (answer === 'changed') throw changed(ref, 'refused');
  const isDone = answer === 'rejected';
  if (!isDone)
    throw new AlmonerError(
      'ALM_PEOPLE_NOT_NEEDED',
      `Batch ${ref.id} does not wait for an approval any more. Nothing was refused.`,
    );
  const what =
    kind === 'batch' ? 'refused the batch, which is cancelled by that' : 'refused a retry of dead letters';
  await record(app, { what, why, batches: [ref.id], orders, tokens });
}
