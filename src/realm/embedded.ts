import { createRealmAdmin, type RealmAdmin } from './server/admin.js';
import { createRealmService, type RealmServiceOptions } from './server/service.js';

export type EmbeddedRealmOptions = RealmServiceOptions & { readonly realmId: string };

/** A realm service inside this process. */
export type EmbeddedRealm = {
  /** The address without `/api/v4`. */
  readonly baseUrl: string;
  /** An API key made for this instance and revoked when it closes, so a leaked key soon has no value. */
  readonly key: string;
  readonly admin: RealmAdmin;
  close(): Promise<void>;
};

/**
 * Starts the realm service inside this process, for rehearsals. It listens on a free loopback port and has an API key
 * of its own. Several processes may each start one over the same Redis: they share realm and members, and closing one
 * leaves the keys of the others valid. A killed process leaves its key behind; the number of keys is bounded.
 */
export async function startEmbeddedRealm(options: EmbeddedRealmOptions): Promise<EmbeddedRealm> {
  const { redis, realmId } = options;
  const admin = createRealmAdmin(redis);
  const service = createRealmService(options);
  const key = await admin.issueKey(realmId);
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  return {
    baseUrl: url,
    key,
    admin,
    async close() {
      await service.close();
      // If the store is unreachable, closing must not hang on it. The key then counts as left behind.
      if (redis.status === 'ready') await admin.revokeKey(realmId, key).catch(() => {});
    },
  };
}
