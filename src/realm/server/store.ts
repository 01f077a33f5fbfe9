import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/**
 * The Redis keys of the realm service. All data of one realm shares one hash tag, so that every script touches a
 * single slot of a Redis Cluster. Only the index of API keys is outside, because it is read before the realm is
 * known.
 */

/**
 * Allows any visible text that fits a path segment. Invisible characters are refused, because people compare ids by
 * eye.
 */
const REALM_ID = /^[^\p{C}\p{Z}]{1,128}$/u;

export function isRealmId(text: string): boolean {
  return REALM_ID.test(text);
}

/** The map of the balances in a further currency; see lua/includes/members.lua. */
export function mapIn(balances: string, currency: string): string {
  return `${balances}-in:${currency}`;
}

export const API_KEYS = 'almoner:realm-keys';

/** The keys of one realm. */
export function realmKeys(realmId: string) {
  if (!isRealmId(realmId))
    throw new RangeError('expected a realm id of 1 to 128 visible characters without blanks');
  // Percent-encoding also encodes braces, so no realm id can forge a hash tag.
  const prefix = `almoner:realm:{${encodeURIComponent(realmId)}}`;
  return {
    /** Hash: when the realm was created. */
    realm: `${prefix}:realm`,
    /** Sorted set of the ids of the realm's API keys, by time of issue. */
    apiKeys: `${prefix}:api-keys`,
    /** Map of member id to balance, a signed integer; see lua/includes/members.lua. */
    balances: `${prefix}:balances`,
    /** Set of the currencies besides the realm's own. Each has a map of balances, see `mapIn`. */
    currencies: `${prefix}:currencies`,
    /** Map of member id to `<created, ms>:<JSON of wallets, web3, attributes>`, or the time alone. */
    profiles: `${prefix}:profiles`,
    /** Hash of wallet to member id. */
    wallets: `${prefix}:wallets`,
    /** Two generations of Idempotency-Key to first answer; see lua/includes/answers.lua. */
    answers: `${prefix}:answers`,
    answersBefore: `${prefix}:answers-before`,
    /** Stream of every applied change: the service's own ledger. */
    applied: `${prefix}:applied`,
    /** Sorted set of the requests in the current sliding window. */
    requests: `${prefix}:requests`,
  };
}

/**
 * A script of the realm service. Each is one Lua file, read once when this module loads and run by its hash. `--
 * @include name` inserts a fragment that several scripts share.
 */
type Script = { readonly name: string; readonly text: string; readonly sha: string };

/** Reads a script with its included fragments. */
function readScript(name: string): Script {
  const folder = new URL('./lua/', import.meta.url);
  const file = readFileSync(new URL(`${name}.lua`, folder), 'utf8');
  const text = file.replaceAll(/^-- @include ([a-z-]+)$/gm, (_line, include) =>
    readFileSync(new URL(`includes/${include}.lua`, folder), 'utf8').trimEnd(),
  );
  return { name, text, sha: createHash('sha1').update(text).digest('hex') };
}

export const MOVE_POINTS = readScript('move-points-6');
/** The number of hashes per map of members, read from the script itself (lua/includes/members.lua). */
export const SHARDS = Number(/^local SHARDS = (\d+)$/m.exec(MOVE_POINTS.text)?.[1]);
export const READ_MEMBER = readScript('read-member-3');
export const ADMIT = readScript('admit-1');
export const PUT_MEMBERS = readScript('put-members-4');
export const SERVICE_SCRIPTS: readonly Script[] = [MOVE_POINTS, READ_MEMBER, ADMIT, PUT_MEMBERS];

/**
 * Runs a script by its hash. Redis answers NOSCRIPT before it runs anything, so sending the text afterwards cannot
 * apply a move twice.
 */
export async function runScript(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(script.sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return await redis.eval(script.text, keys.length, ...keys, ...args);
  }
}

/** Redis failed during a command. `sent`: the command may have reached Redis, so the change may have been made. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure';
  readonly sent: boolean;

  constructor(sent: boolean, cause: unknown) {
    super(sent ? 'the store failed under a command' : 'the store was not reachable', { cause });
    this.sent = sent;
  }
}

/**
 * Runs a command and turns a failure into a StoreFailure. The connection has no offline queue, so a command issued
 * while it is down was certainly not sent.
 */
export async function onStore<T>(redis: Redis, command: () => Promise<T>): Promise<T> {
  const ready = redis.status === 'ready';
  try {
    return await command();
  } catch (cause) {
    throw new StoreFailure(ready, cause);
  }
}
