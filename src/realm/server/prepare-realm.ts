import { AlmonerError } from '../../core/errors/error.js';
import type { RealmAdmin } from './admin.js';
import { isRealmId } from './keys.js';
import { loadMembersCsv } from './members-csv.js';

export type RealmPreparation = {
  readonly realmId: string;
  /** A key the operator brings along; null: the service makes one where the realm has none. */
  readonly ownKey: string | null;
  readonly rotateKey: boolean;
  readonly membersFile: string | null;
};

export type PreparedRealm = {
  /** Only when it was made now: it is stored hashed and can never be shown again. */
  readonly newKey: string | null;
  readonly membersCreated: number;
};

/** Brings a realm to the state the operator asked for. Doing it again changes nothing that exists. */
export async function prepareRealm(admin: RealmAdmin, wanted: RealmPreparation): Promise<PreparedRealm> {
  const { realmId } = wanted;
  if (!isRealmId(realmId)) {
    const message = `${JSON.stringify(realmId)} cannot be a realm id. The realm service was not started.`;
    throw new AlmonerError('ALM_SERVICE_REALM_ID_INVALID', message);
  }
  // Members first: a file with faults must not leave a realm with a new key behind.
  const membersCreated =
    wanted.membersFile === null ? 0 : await loadMembersCsv(admin, realmId, wanted.membersFile);
  await admin.createRealm(realmId);
  return { newKey: await keyFor(admin, wanted), membersCreated };
}

async function keyFor(admin: RealmAdmin, wanted: RealmPreparation): Promise<string | null> {
  const { realmId, ownKey } = wanted;
  if (ownKey !== null) {
    // With a key brought along, rotating means that every other one ends.
    if (wanted.rotateKey) await admin.revokeKeys(realmId);
    await admin.adoptKey(realmId, ownKey);
    return null;
  }
  if (wanted.rotateKey) return admin.rotateKey(realmId);
  return (await admin.keyCount(realmId)) === 0 ? admin.issueKey(realmId) : null;
}
