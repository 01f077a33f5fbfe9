import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { PositionNotes, readPositions } from './positions.js';

/** Beside the notes of sessions: the data folder's journals (see session.ts). */
const NOTES = 'journal';

/**
 * A person paused, cancelled or resumed a batch, or withdrew approvals. No journal records that, so a store that is put back
 * has forgotten it, and a worker would pay what was cancelled. The position that the ledger has now is noted beside the
 * journals before the command reports success: recovery on this machine then finds that the store is behind.
 *
 * The witness and the store are told only what sending sessions saw: a folder from which nothing was sent must be neither
 * waited for nor taken for another ledger from which the realm was paid.
 */
export async function noteAct(ledger: RealmLedger): Promise<void> {
  const { folder } = ledger.scripts.here;
  if (folder === null || ledger.realm.rehearsal) return;
  const [era, seq] = await askRealm(ledger, 'read position', (redis, T) => redis.hmget(T, 'era', 'seq'));
  const own = await ledger.scripts.here.ownFolder();
  const witness = own?.witness ?? null;
  const hasSent = witness !== null && (await readPositions(witness))[ledger.keyPrefix] !== undefined;
  const notes = new PositionNotes({
    session: randomBytes(6).toString('hex'),
    dataFolder: folder,
    journals: join(folder, NOTES),
    number: '',
    witness: hasSent ? witness : null,
    // Sessions take over the notes of the dead. This one takes over those that have ended.
    isDead: () => Promise.resolve(false),
  });
  notes.saw({ ...ledger, mark: { ...ledger.mark, era: era ?? '' } }, Number(seq ?? 0));
  await notes.end();
}
