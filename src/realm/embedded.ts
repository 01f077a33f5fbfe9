import { createRealmAdmin, type RealmAdmin } from './server/admin.js';
import { createRealmService, type RealmServiceOptions } from './server/service.js';

export type EmbeddedRealmOptions = RealmServiceOptions & { readonly realmId: string };

export type EmbeddedRealm = {
  /** Without `/api/v4`. */
  readonly baseUrl: string;
  /** Made for this instance; it ends with it, so that a key that leaked is worth nothing. */
  readonly key: string;
  readonly admin: RealmAdmin;
  close(): Promise<void>;
};

/**
 * The realm service inside this process, for rehearsals: on a loopback port that the system picks, with a
 * key of its own. Several processes may each start one over the same Redis; they share realm and members,
 * and the keys of the others stay valid. A killed process leaves its key behind; the number is bounded.
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
      // A store that is gone must not keep its command from ending; the key then counts as left behind.
      if (redis.status === 'ready') await admin.revokeKey(realmId, key).catch(() => {});
    },
  };
}
