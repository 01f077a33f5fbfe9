import { AlmonerError } from '../../core/errors/error.js';
import type { RealmProfile } from '../../core/profile.js';
import type { BatchRef } from '../../ledger/batches.js';
import type { App, OpenRealm } from '../app.js';
import type { Config } from '../config/config.js';
import { rehearsalProfile } from './rehearsals.js';

/** From a batch to the realm it belongs to, by base URL and id: a profile's name may have changed since. */
export function profileOfBatch(config: Config, { books: { owner } }: BatchRef): RealmProfile | undefined {
  const configured = config.profiles.find(
    ({ baseUrl, realmId }) => baseUrl === owner.baseUrl && realmId === owner.realmId,
  );
  if (configured !== undefined || !isRehearsalOfItsOwn(config, owner)) return configured;
  return { ...rehearsalProfile(Date.now()), realmId: owner.realmId };
}

/** Made by `rehearse` and configured nowhere: no worker ever takes its batches. */
export function isRehearsalOfItsOwn(config: Config, owner: BatchRef['books']['owner']): boolean {
  return (
    owner.rehearsal &&
    !config.profiles.some(({ baseUrl, realmId }) => baseUrl === owner.baseUrl && realmId === owner.realmId)
  );
}

export async function realmOfBatch(app: App, ref: BatchRef): Promise<OpenRealm> {
  const profile = profileOfBatch(app.config, ref);
  if (profile !== undefined) return app.realm(profile);
  const { name, realmId, baseUrl } = ref.books.owner;
  throw new AlmonerError(
    'ALM_BATCH_REALM_NOT_HERE',
    `Batch ${ref.id} belongs to realm ${name} (${realmId} at ${baseUrl}), which is not configured here. Nothing was done.`,
  );
}
