import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { type Answer, refuse } from './answer.js';
import { API_KEYS, onStore, realmKeys } from './store.js';

/**
 * API keys, each bound to one realm. The service stores only their SHA-256 digest. Its own keys are 256 random bits,
 * beyond any dictionary, so a slow password hash would only slow down every request. The index is found by the first
 * half of the digest. The whole digest is then compared in constant time, so that response times reveal nothing about
 * a stored digest.
 */

/**
 * Beyond this number the oldest issued key of a realm ends, so that killed processes cannot fill the store with keys.
 */
export const KEYS_PER_REALM_MAX = 1_000;

/** Characters that an Authorization header can carry without quoting. */
const API_KEY = /^[\x21-\x7e]{1,512}$/;

const storedKey = z.object({ realm: z.string(), digest: z.string() });

function isApiKey(text: string): boolean {
  return API_KEY.test(text);
}

/** The index entry of a key, and its whole digest. */
function digestOf(key: string): { id: string; digest: Buffer } {
  const digest = createHash('sha256').update(key).digest();
  return { id: digest.subarray(0, 16).toString('hex'), digest };
}

function notAKey(): AlmonerError {
  return new AlmonerError(
    'ALM_SERVICE_KEY_INVALID',
    'The API key to take over is not 1 to 512 visible ASCII characters without blanks. No key was stored.',
  );
}

function ofAnotherRealm(owner: string): AlmonerError {
  return new AlmonerError(
    'ALM_SERVICE_KEY_OTHER_REALM',
    `The API key to take over already belongs to the realm ${JSON.stringify(owner)}. Nothing was changed.`,
  );
}

export type ApiKeys = ReturnType<typeof openApiKeys>;

/** Reads and writes keys by their digest. */
function storedKeys(redis: Redis) {
  const lookUp = async (key: string): Promise<string | undefined> => {
    const { id, digest } = digestOf(key);
    const stored = await onStore(redis, () => redis.hget(API_KEYS, id));
    if (stored === null) return undefined;
    const record = storedKey.parse(JSON.parse(stored));
    return timingSafeEqual(Buffer.from(record.digest, 'hex'), digest) ? record.realm : undefined;
  };

  /** Writes the realm's own list first and clears it last, so that the list always names every valid key. */
  const store = async (realmId: string, key: string, score: number | '+inf'): Promise<void> => {
    const keys = realmKeys(realmId);
    const { id, digest } = digestOf(key);
    await redis.hsetnx(keys.realm, 'createdAt', Date.now());
    await redis.zadd(keys.apiKeys, score, id);
    await redis.hset(API_KEYS, id, JSON.stringify({ realm: realmId, digest: digest.toString('hex') }));
    const surplus = (await redis.zcard(keys.apiKeys)) - KEYS_PER_REALM_MAX;
    if (surplus > 0) await revoke(realmId, await redis.zrange(keys.apiKeys, 0, String(surplus - 1)));
  };

  const revoke = async (realmId: string, ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    await redis.hdel(API_KEYS, ...ids);
    await redis.zrem(realmKeys(realmId).apiKeys, ...ids);
  };

  return { lookUp, store, revoke };
}

/** Opens the API keys of all realms in a store. */
export function openApiKeys(redis: Redis) {
  const { lookUp, store, revoke } = storedKeys(redis);

  const issue = async (realmId: string): Promise<string> => {
    const key = randomBytes(32).toString('base64url');
    await store(realmId, key, Date.now());
    return key;
  };

  return {
    /** The realm that a key belongs to; undefined for an unknown key. */
    realmOf: lookUp,
    issue,

    /** Stores a key that the operator supplies. The limit on issued keys never removes it. */
    async adopt(realmId: string, key: string): Promise<void> {
      if (!isApiKey(key)) throw notAKey();
      const owner = await lookUp(key);
      if (owner !== undefined && owner !== realmId) throw ofAnotherRealm(owner);
      await store(realmId, key, '+inf');
    },

    /** Issues a new key and revokes all other keys of the realm. */
    async rotate(realmId: string): Promise<string> {
      const before = await redis.zrange(realmKeys(realmId).apiKeys, 0, '-1');
      const key = await issue(realmId);
      await revoke(realmId, before);
      return key;
    },

    async revokeKey(realmId: string, key: string): Promise<void> {
      await revoke(realmId, [digestOf(key).id]);
    },

    async revokeAll(realmId: string): Promise<void> {
      await revoke(realmId, await redis.zrange(realmKeys(realmId).apiKeys, 0, '-1'));
    },
  };
}

/**
 * Checks the API key: `Authorization: Bearer <key>` or the bare key. Both rules of the interface are decided from the
 * key alone, before the addressed realm is looked up. A key of another realm therefore gets the same 403 whether the
 * addressed realm exists or not.
 */
export async function authenticate(
  apiKeys: ApiKeys,
  header: string | undefined,
  realmId: string,
): Promise<Answer | undefined> {
  const key = keyFrom(header);
  if (key === undefined) {
    return unauthorized(
      'The Authorization header must carry the realm API key: "Bearer <key>" or the key alone.',
    );
  }
  const owner = await apiKeys.realmOf(key);
  if (owner === undefined) return unauthorized('The API key is incorrect or does not exist.');
  if (owner !== realmId) {
    return refuse(403, 'forbidden', 'The API key belongs to a different realm than the one addressed.');
  }
  return undefined;
}

/** Reads the key from the header; undefined if the header is missing or malformed. */
function keyFrom(header: string | undefined): string | undefined {
  const words = (header ?? '').trim().split(/ +/);
  const [first = '', second] = words;
  if (words.length === 2 && second !== undefined && first.toLowerCase() === 'bearer') {
    return isApiKey(second) ? second : undefined;
  }
  return words.length === 1 && isApiKey(first) ? first : undefined;
}

function unauthorized(message: string): Answer {
  const headers = { 'www-authenticate': 'Bearer realm="almoner"' };
  return { ...refuse(401, 'unauthorized', message), headers };
}
