import { REFERENCE_HASH_BYTES } from '../../core/reference.js';
import { batchKeys } from '../keys.js';
import { findSpent, REF_BYTES } from '../moves/put-block.js';
import type { RealmLedger } from '../realm-ledger.js';
import type { BatchRef } from './batches.js';

/** What an import asks the books once more before its seal. */

/** Rows without references are compared with the orders of so long. */
export const LOOK_BACK_MS = 30 * 24 * 3600_000;

/**
 * `seals` is raised by every seal of the realm and by a loss that is accepted, `retries` by every order that was
 * over and is paid, or may be, after all: what was judged at these numbers is sealed or retried at them, or not.
 */
export async function judgedAt({
  scripts,
  keyPrefix,
}: RealmLedger): Promise<{ seals: string; retries: string }> {
  const [seals, retries] = await scripts.retryWhileAway('read seals', () =>
    scripts.redis.hmget(keyPrefix, 'seals', 'retries'),
  );
  return { seals: seals ?? '0', retries: retries ?? '0' };
}

/**
 * The same for dead letters of one batch, whose own retries move nothing: they are compared together, and equal rows of
 * one file are all meant.
 */
export async function judgedBeside({ ledger, no }: BatchRef): Promise<string> {
  const { scripts, keyPrefix } = ledger;
  // In this order: an own retry between the two reads leaves a number that is never reached again.
  const { seals, retries } = await judgedAt(ledger);
  const own = await scripts.retryWhileAway('read seals', () =>
    scripts.redis.hget(batchKeys(keyPrefix, no).meta, 'retried'),
  );
  return `${seals} ${Number(retries) - Number(own)}`;
}

/** Of references as BlockClaims pack them: the places in the block, and whether somebody keeps each spent. */
export async function spentPlaces(
  ledger: RealmLedger,
  refs: Buffer,
): Promise<[place: number, spent: boolean][]> {
  const places: number[] = [];
  const hashes: string[] = [];
  for (let at = 0; at < refs.length; at += REF_BYTES) {
    places.push(refs.readUInt8(at));
    hashes.push(refs.toString('latin1', at + 1, at + 1 + REFERENCE_HASH_BYTES));
  }
  const spent = await findSpent(ledger, hashes, hashes);
  return places.map((place, i) => [place, spent.has(hashes[i] ?? '')]);
}
