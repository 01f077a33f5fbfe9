import { AlmonerError } from '../../core/errors/error.js';
import { type BatchId, batchId } from '../../core/ids.js';
import { noteAct } from '../journal/positions.js';
import { unresumedKey } from '../keys.js';
import { askRealm, askScript, type RealmLedger } from '../realm-ledger.js';
import { type AuditEntry, encodeAudit } from '../views.js';

/** After a rollback first sends wait for a person; includes/first-sends.lua tells why. */

/** Since when first sends of the realm wait, and how many batches do; null where none has to wait. */
export async function readWaitAfterRollback(
  ledger: RealmLedger,
): Promise<{ readonly sinceMs: number; readonly batches: number } | null> {
  return askRealm(ledger, 'read wait after rollback', async (redis, T) => {
    const [since, batches] = await Promise.all([
      redis.hget(T, 'waitsSince'),
      redis.zinter(2, unresumedKey(ledger), `${T}:open`),
    ]);
    return since === null ? null : { sinceMs: Number(since), batches: batches.length };
  });
}

/** Unattended work begins nothing while the realm waits for a person. */
export async function needResumed(ledger: RealmLedger): Promise<void> {
  if ((await readWaitAfterRollback(ledger)) !== null) throw mustWait(ledger);
}

export function mustWait({ realm }: RealmLedger): AlmonerError {
  return new AlmonerError(
    'ALM_LEDGER_AFTER_ROLLBACK',
    `The store of realm ${realm.name} was rolled back and may have lost a pause or a cancel. New payments wait until you check. Nothing was sent.`,
  );
}

type Resumed =
  | { readonly answer: 'resumed'; readonly batches: readonly BatchId[] }
  | { readonly answer: 'not waiting' | 'disarmed' };

/** A person lets first sends go on that wait since that time, and no others: another rollback may have come between. */
export async function resumeAfterRollback(
  ledger: RealmLedger,
  sinceMs: number,
  audit: AuditEntry,
): Promise<Resumed> {
  const args = [encodeAudit(audit), sinceMs];
  const [answer, ...ids] = await askScript(ledger, 'resume-after-rollback', args);
  if (answer === 'resumed') await noteAct(ledger);
  if (answer === 'resumed') return { answer, batches: ids.map(batchId) };
  return { answer: answer === 'disarmed' ? 'disarmed' : 'not waiting' };
}

/**
 * A backup of that time, where it is known, was put back: first sends wait once the ledger opens, whatever the journals
 * know. The backup may hold the story of an earlier recovery, also of one that had not ended; this is another one. A ledger
 * that had sent nothing by then gets a sequence, or it would take itself for a new one and open itself.
 */
export async function noteRestored(ledger: RealmLedger, backupMs: number | null): Promise<void> {
  await askRealm(ledger, 'note restored', (redis, T) =>
    redis
      .multi()
      .hset(T, { forgot: '1', restored: '1' })
      .hsetnx(T, 'seq', '0')
      .del(`${T}:recovery`)
      .hset(`${T}:recovery`, { forgot: '1', ...(backupMs !== null && { since: backupMs }) })
      .exec(),
  );
}
