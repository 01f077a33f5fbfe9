/**
 * The names of everything the realm service keeps in Redis. All data of one realm carries one hash tag, so
 * that every script touches a single slot of a Redis Cluster. Only the index of API keys stands outside:
 * it has to be read before the realm is known.
 */

/** Any text a path segment can carry, but nothing invisible: ids are shown to people and compared by them. */
const REALM_ID = /^[^\p{C}\p{Z}]{1,128}$/u;

export function isRealmId(text: string): boolean {
  return REALM_ID.test(text);
}

export const API_KEYS = 'almoner:realm-keys';

export type RealmKeys = {
  /** Hash: when the realm was made. */
  readonly realm: string;
  /** Sorted set of the realm's API key ids by time of issue. */
  readonly apiKeys: string;
  /** Hash of member id to balance, a signed integer. */
  readonly balances: string;
  /** Hash of member id to `<created, ms>:<JSON of wallets, web3, attributes>`. */
  readonly profiles: string;
  /** Hash of wallet to member id. */
  readonly wallets: string;
  /** Two generations of Idempotency-Key to first answer; see lua/includes/answers.lua. */
  readonly answers: string;
  readonly answersBefore: string;
  /** Stream of every change that was applied: the service's own books. */
  readonly applied: string;
  /** Sorted set of the requests in the current sliding window. */
  readonly requests: string;
};

export function realmKeys(realmId: string): RealmKeys {
  if (!isRealmId(realmId)) {
    throw new RangeError('expected a realm id of 1 to 128 visible characters without blanks');
  }
  // Percent-encoding turns braces into text, so that no id can forge a hash tag.
  const prefix = `almoner:realm:{${encodeURIComponent(realmId)}}`;
  return {
    realm: `${prefix}:realm`,
    apiKeys: `${prefix}:api-keys`,
    balances: `${prefix}:balances`,
    profiles: `${prefix}:profiles`,
    wallets: `${prefix}:wallets`,
    answers: `${prefix}:answers`,
    answersBefore: `${prefix}:answers-before`,
    applied: `${prefix}:applied`,
    requests: `${prefix}:requests`,
  };
}
