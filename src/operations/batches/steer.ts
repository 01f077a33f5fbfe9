import { AlmonerError } from '../../core/errors/error.js';
import { CLOSED } from '../../core/may-send.js';
import {
  type AuditEntry,
  type BatchRef,
  readBatch,
  reading,
  recovery,
  steering,
} from '../../ledger/index.js';
import { reasonOf } from '../../queue/reasons.js';
import { changeRun, listRuns } from '../../rules/run-store.js';
import type { App } from '../../runtime/app.js';
import { beginsWords } from '../../words/people.js';
import { isUnfinished, releaseUnfinished, type UnfinishedImport } from '../orders/unfinished-imports.js';
import { recordIn } from '../people/audit.js';
import type { BatchStatus } from '../views/batch.js';
import { changeHere, isRehearsalOfItsOwn, letRealmGoOn, type Profiles, realmOfBatch } from './batch-realm.js';
import { batchStatus, isInterrupted, isOver } from './batch-status.js';

/**
 * Pause, resume and cancel. Each is one move in the ledger, which every worker asks before each order: it is
 * in force at once, and what is being sent finishes.
 */
export type Steering = {
  /** False: the batch was already as asked. */
  readonly changed: boolean;
  readonly status: BatchStatus;
};

export type SteeredBy = { readonly who: string; readonly why: string | null };

export async function pause(config: Profiles, ref: BatchRef, by: SteeredBy): Promise<Steering> {
  const why = by.why === null ? '' : `: ${by.why}`;
  const reason = reasonOf('ALM_BATCH_PAUSED', `${by.who} paused the batch${why}. Nothing new is sent.`);
  const { done, state } = await steering.batch.pause(ref, reason, audit(by, 'paused'));
  if (!done && state !== 'paused' && state !== 'halted') throw await cannot(ref, state, 'paused');
  const status = await batchStatus(ref, config);
  if (done) await recordSteered(ref, by, `paused batch ${ref.id}`, status);
  return { changed: done, status };
}

/**
 * Also lets a halted realm go on, after one read with the key as it is now. A set time stays: a person who resumes a realm
 * thinks of its key, not of the hour at which a batch was to begin. `begin`: now instead of then.
 */
export async function resume(
  app: App,
  ref: BatchRef,
  by: SteeredBy,
  { now: begin = false }: { readonly now?: boolean | undefined } = {},
): Promise<Steering> {
  const before = await readBatch(ref);
  if (before === undefined) throw await cannot(ref, 'importing', 'resumed');
  if (isOver(before)) throw await cannot(ref, before.state, 'resumed');
  if (isRehearsalOfItsOwn(app.config, ref.ledger.realm))
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} is a rehearsal, which only the command that made it works off. Nothing was done.`,
      { next: 'Make a new one with `almoner rehearse FILE`.' },
    );
  if (before.whyNot.includes('after-rollback')) throw recovery.afterRollback.mustWait(ref.ledger);
  const changed = changeHere(app.config, ref, before.manifest);
  if (changed !== null) throw new AlmonerError(changed.code, changed.message, { next: changed.next });
  const { halt } = await reading.realmState.read(ref.ledger);
  if (halt !== null) await letRealmGoOn(await realmOfBatch(app, ref));
  const now = (await readBatch(ref)) ?? before;
  const [first = null] = now.whyNot;
  if (first === 'approval')
    throw new AlmonerError(
      'ALM_BATCH_APPROVAL',
      `${reading.reasons.approvalNeeded(now.gate?.preparer ?? null)} Nothing was begun.`,
    );
  const keepsTime = (first === 'start-time' || first === 'start-missed') && !begin;
  // A run whose process lives stays its own; handing it to the workers would take it away in mid-work.
  if (!isOver(now) && (keepsTime || (first === null && !(await isInterrupted(ref, now))))) {
    const status = await batchStatus(ref, app.config);
    if (halt !== null) {
      await steering.batch.audit(ref, audit(by, 'resumed, with its halted realm'));
      await recordSteered(ref, by, `resumed batch ${ref.id}, with its halted realm`, status);
    }
    return { changed: halt !== null, status };
  }
  const set = beginsWords(now.gate?.start ?? null);
  const isEarly = begin && CLOSED.some((why) => now.whyNot.includes(why));
  const { done, state } = await steering.batch.resume(
    ref,
    audit(by, isEarly ? `begun now instead of at ${set}` : 'resumed'),
    { owner: '', now: begin },
  );
  if (!done && state === 'start-time')
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was approved for ${set}, and does not begin before. Nothing was done.`,
      { next: `Wait, or cancel it with \`almoner cancel ${ref.id}\` and prepare it for another time.` },
    );
  if (!done) throw await cannot(ref, state, 'resumed');
  const status = await batchStatus(ref, app.config);
  const what = isEarly ? `began batch ${ref.id} now instead of at ${set}` : `resumed batch ${ref.id}`;
  await recordSteered(ref, by, what, status);
  return { changed: true, status };
}

/** What was not sent stays unsent and frees its references; what is unknown is still resolved. */
export async function cancel(config: Profiles, ref: BatchRef, by: SteeredBy): Promise<Steering> {
  const { done, state } = await steering.batch.cancel(ref, audit(by, 'cancelled'));
  if (!done && state !== 'cancelled') throw await cannot(ref, state, 'cancelled');
  const status = await batchStatus(ref, config);
  if (done) await recordSteered(ref, by, `cancelled batch ${ref.id}`, status);
  return { changed: done, status };
}

/** With the orders that the step was about: the cancelled ones, or those that are still to be sent. */
function recordSteered(
  { ledger, id }: BatchRef,
  { who, why }: SteeredBy,
  what: string,
  { state, counts, tokens }: BatchStatus,
): Promise<void> {
  const about = state === 'cancelled' ? 'cancelled' : 'planned';
  const sums = { orders: counts[about] ?? 0, tokens: tokens[about] ?? '0' };
  return recordIn(ledger.scripts, who, { what, why, batches: [id], ...sums });
}

/**
 * Takes back an import that did not finish. The run that it was made of is over first, so that neither a schedule nor
 * the next command goes on with what a person has cancelled; where it is sealed at this very moment, the seal says so.
 */
export async function cancelImport(ref: BatchRef, { who, why }: SteeredBy): Promise<UnfinishedImport | null> {
  const { ledger, id } = ref;
  if (!(await isUnfinished(ref))) return null;
  for (const run of await listRuns(ledger))
    if (run.batch === id)
      await changeRun(ledger, run.id, (known) =>
        known?.state === 'planned' && known.batch === id ? { ...known, state: 'cancelled' } : null,
      );
  const released = await releaseUnfinished(ref);
  const what = `gave up the import of batch ${id}, which had not finished`;
  if (released !== null) await recordIn(ledger.scripts, who, { what, why, batches: [id] });
  return released;
}

function audit({ who, why }: SteeredBy, what: string): AuditEntry {
  return { at: Date.now(), who, what, why };
}

async function cannot(ref: BatchRef, state: string, verb: string): Promise<AlmonerError> {
  if (await isUnfinished(ref))
    return new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was never completely imported, so it cannot be ${verb}. Nothing of it was sent.`,
      { next: `Import the file again, or give up with \`almoner cancel ${ref.id}\`.` },
    );
  return new AlmonerError(
    'ALM_BATCH_CANNOT',
    `Batch ${ref.id} is ${state} and cannot be ${verb}. Nothing was done.`,
    { next: `Look at it with \`almoner status ${ref.id}\`.` },
  );
}
