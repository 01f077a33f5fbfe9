import type { Redis } from 'ioredis';
import { stringify } from 'lossless-json';
import { AlmonerError } from '../../core/errors/error.js';
import { comparableWallet } from '../wallet.js';
import { openApiKeys } from './api-keys.js';
import { type MemberSeed, membersOfCsv, seedFault } from './members.js';
import { isRealmId, mapIn, PUT_MEMBERS, realmKeys, runScript, SHARDS } from './store.js';

const BLOCK_MEMBERS = 500;
const BLOCK_KEYS = 1_000;

export type RealmAdmin = ReturnType<typeof createRealmAdmin>;

/**
 * The administration of the realm service: creates realms, API keys and members. The first key or member creates its
 * realm.
 */
export function createRealmAdmin(redis: Redis) {
  const apiKeys = openApiKeys(redis);

  /**
   * Writes members and returns how many are new. `existing` says what happens to a member that exists: keep it
   * unchanged, keep only its balance, or replace it.
   */
  const putMembers = async (
    realmId: string,
    members: AsyncIterable<MemberSeed> | Iterable<MemberSeed>,
    existing: 'leave' | 'keep' | 'replace' = 'replace',
    /** The currency of the tokens; null: the realm's own. */
    currency: string | null = null,
  ): Promise<number> => {
    const { realm, balances, profiles, wallets } = realmKeys(realmId);
    await redis.hsetnx(realm, 'createdAt', Date.now());
    let created = 0;
    let block: unknown[] = [];
    const flush = async () => {
      const args = [existing, JSON.stringify(block), currency ?? ''];
      created += Number(await runScript(redis, PUT_MEMBERS, [balances, profiles, wallets], args));
      block = [];
    };
    for await (const seed of members) {
      block.push(packSeed(seed));
      if (block.length === BLOCK_MEMBERS) await flush();
    }
    if (block.length > 0) await flush();
    return created;
  };

  return {
    issueKey: apiKeys.issue,
    adoptKey: apiKeys.adopt,
    rotateKey: apiKeys.rotate,
    revokeKey: apiKeys.revokeKey,
    revokeKeys: apiKeys.revokeAll,
    keyCount: (realmId: string) => redis.zcard(realmKeys(realmId).apiKeys),

    putMembers,

    /** Adds currencies to the realm's own. Every member begins with a balance of zero in them. */
    async addCurrencies(realmId: string, names: readonly string[]): Promise<void> {
      if (names.length > 0) await redis.sadd(realmKeys(realmId).currencies, ...names);
    },

    async dropRealm(realmId: string): Promise<void> {
      await apiKeys.revokeAll(realmId);
      const named = realmKeys(realmId);
      const others = await redis.smembers(named.currencies);
      const maps = [named.balances, named.profiles, ...others.map((name) => mapIn(named.balances, name))];
      const keys = Array.from({ length: SHARDS }, (_, shard) => maps.map((map) => `${map}:${shard}`)).flat();
      // Delete the members first: a change that arrives meanwhile leaves an answer only if it still finds its member.
      keys.push(...Object.values(named));
      // Delete in blocks, so that no single command names all keys. UNLINK frees the memory in the background.
      for (let at = 0; at < keys.length; at += BLOCK_KEYS)
        await redis.unlink(keys.slice(at, at + BLOCK_KEYS));
    },
  };
}

/** Packs a member for the script; throws if the seed has a fault. */
function packSeed(seed: MemberSeed): [string, string, string[], string] {
  const fault = seedFault(seed);
  if (fault !== undefined)
    throw new RangeError(`member ${JSON.stringify(seed.member)}: ${fault.column}: ${fault.message}`);
  const wallets = [...new Set((seed.wallets ?? []).map(comparableWallet))];
  const { web3 = {}, attributes = {} } = seed;
  const says = [wallets, web3, attributes].some((facts) => Object.keys(facts).length > 0);
  // Lossless JSON: the facts may hold token ids beyond 2^53 as LosslessNumber.
  const profile = says ? stringify({ wallets, web3, attributes }) : undefined;
  return [seed.member, String(seed.tokens), wallets, profile ?? ''];
}

/** The state that the operator requests for a realm. */
type RealmPreparation = {
  readonly realmId: string;
  /** An API key that the operator supplies. Null: the service creates one if the realm has none. */
  readonly ownKey: string | null;
  readonly rotateKey: boolean;
  readonly membersFile: string | null;
  readonly currencies: readonly string[];
};

type PreparedRealm = {
  /** Set only if the key was created now: the service stores a hash and cannot show the key again. */
  readonly newKey: string | null;
  readonly membersCreated: number;
};

/**
 * Brings a realm to the requested state. Running it again changes no existing member and no key, unless `rotateKey`
 * asks for a new one.
 */
export async function prepareRealm(admin: RealmAdmin, wanted: RealmPreparation): Promise<PreparedRealm> {
  const { realmId, membersFile, currencies } = wanted;
  if (!isRealmId(realmId)) {
    const message = `${JSON.stringify(realmId)} cannot be a realm id. The realm service was not started.`;
    throw new AlmonerError('ALM_SERVICE_REALM_ID_INVALID', message);
  }
  // Load the members first: a faulty file must not leave a realm with a new key behind.
  const membersCreated =
    membersFile === null ? 0 : await admin.putMembers(realmId, await membersOfCsv(membersFile), 'keep');
  await admin.addCurrencies(realmId, currencies);
  return { newKey: await keyFor(admin, wanted), membersCreated };
}

/** Stores the supplied key, rotates keys, or issues the first key. Returns a key only if it was created now. */
async function keyFor(admin: RealmAdmin, wanted: RealmPreparation): Promise<string | null> {
  const { realmId, ownKey } = wanted;
  if (ownKey !== null) {
    // With a supplied key, rotation means that all other keys stop working.
    if (wanted.rotateKey) await admin.revokeKeys(realmId);
    await admin.adoptKey(realmId, ownKey);
    return null;
  }
  if (wanted.rotateKey) return admin.rotateKey(realmId);
  return (await admin.keyCount(realmId)) === 0 ? admin.issueKey(realmId) : null;
}
