import { z } from 'zod';
import { type BatchId, batchId } from '../../core/ids.js';
import { askRealm, type RealmLedger, storeNowMs } from '../realm-ledger.js';
import { decodeEntry, encodeEntry, type Intent } from './line.js';
import type { JournaledAttempt } from './reader.js';

/**
 * Payments that a journal knows and whose batch the ledger does not have: the store was rolled back to
 * before its import. They are kept under the batch's id, which comes from its orders: when the same file is
 * imported again, nothing of it is fed until they have been put back (see moves/feed.lua).
 */
const PARKED = 'parked';
/** Instead of '1': a person has accepted that the store and the journals together do not know all of it. */
const INCOMPLETE = 'incomplete';

const stored = z.object({ session: z.string(), intent: z.string(), result: z.string().nullable() });

export async function park(
  ledger: RealmLedger,
  { session, intent, result }: JournaledAttempt,
): Promise<void> {
  const value = {
    session,
    intent: encodeEntry({ kind: 'intent', intent }),
    result: result === null ? null : encodeEntry({ kind: 'result', result }),
  };
  await ledger.scripts.script('park', ledger.keyPrefix, [intent.batch, intent.nonce, JSON.stringify(value)]);
}

/** The attempt turned out to have never left. */
export async function letGo(ledger: RealmLedger, { batch, nonce }: Intent): Promise<void> {
  const kept = await ledger.scripts.ask('read parked', (redis) => redis.hget(keyOf(ledger, batch), nonce));
  if (kept !== null) await forgetParked(ledger, { batch, kept: { [nonce]: kept } }, '');
}

/** Whether this very attempt is kept already, with its result where it has one. */
export async function isParked(
  ledger: RealmLedger,
  { intent, result }: Pick<JournaledAttempt, 'intent' | 'result'>,
): Promise<boolean> {
  const kept = await ledger.scripts.redis.hget(keyOf(ledger, intent.batch), intent.nonce);
  return kept !== null && (result === null || decodeParked(kept).result !== null);
}

type ParkedBatch = {
  readonly batch: BatchId;
  readonly attempts: readonly JournaledAttempt[];
  /** The attempts by nonce, as they are kept. */
  readonly kept: Readonly<Record<string, string>>;
  /** A person has accepted that what was sent of it is not known completely. */
  readonly incomplete: boolean;
};

/**
 * Of all batches that are parked, now or later: more may have been sent of them than any journal knows. Plans that
 * were judged before are judged again at their seal.
 */
export async function markForgotten(ledger: RealmLedger): Promise<void> {
  await askRealm(ledger, 'mark parked', async (redis, T) => {
    const at = await storeNowMs(ledger);
    await redis.multi().hset(T, 'gap', at).hincrby(T, 'seals', 1).exec();
    for (const batch of await redis.hkeys(`${T}:${PARKED}`))
      await redis.hset(`${T}:${PARKED}`, batch, INCOMPLETE);
  });
}

/** When a person accepted last that the store has forgotten more than the journals know; null where nobody did. */
export async function lossAcceptedAt(ledger: RealmLedger): Promise<number | null> {
  const at = await askRealm(ledger, 'read loss', (redis, T) => redis.hget(T, 'gap'));
  return at === null ? null : Number(at);
}

/** Whether payments of this batch are kept for the day it is imported again. */
export async function hasParked(ledger: RealmLedger, batch: BatchId): Promise<boolean> {
  return (await askRealm(ledger, 'find parked', (redis, T) => redis.hexists(`${T}:${PARKED}`, batch))) === 1;
}

/** The ids of all batches that payments are kept of. */
export async function parkedBatches(ledger: RealmLedger): Promise<ReadonlySet<string>> {
  return new Set(await askRealm(ledger, 'list parked', (redis, T) => redis.hkeys(`${T}:${PARKED}`)));
}

/** `here`: only those whose batch the ledger has again, by its id or by the one that 0.1.0 gave it. */
export async function parkedAttempts(ledger: RealmLedger, here = false): Promise<ParkedBatch[]> {
  const { scripts } = ledger;
  const marks = await askRealm(ledger, 'list parked', (redis, T) => redis.hgetall(`${T}:${PARKED}`));
  const ids = Object.keys(marks);
  if (ids.length === 0) return [];
  const found = await askRealm(ledger, 'list batches', (redis, T) =>
    Promise.all([`${T}:batches`, `${T}:former`].map((key) => redis.hmget(key, ...ids))),
  );
  const wanted = ids.filter((_, i) => !here || found.some((numbers) => numbers[i] != null));
  return Promise.all(
    wanted.map(async (text) => {
      const batch = batchId(text);
      const kept = await scripts.ask('read parked', (redis) => redis.hgetall(keyOf(ledger, batch)));
      const attempts = Object.values(kept).map(decodeParked);
      return { batch, attempts, kept, incomplete: marks[text] === INCOMPLETE };
    }),
  );
}

/** These were put back into their batch; what others have put by meanwhile stays. */
export async function forgetParked(
  ledger: RealmLedger,
  { batch, kept }: Pick<ParkedBatch, 'batch' | 'kept'>,
  /** The store in which they were put back; empty where they never left. */
  store: string,
): Promise<void> {
  const args = [batch, JSON.stringify(Object.entries(kept)), store];
  await ledger.scripts.script('unpark', ledger.keyPrefix, args);
}

function decodeParked(json: string): JournaledAttempt {
  const { session, intent, result } = stored.parse(JSON.parse(json));
  const first = decodeEntry(intent.trimEnd());
  const second = result === null ? undefined : decodeEntry(result.trimEnd());
  if (first?.kind !== 'intent') throw new TypeError('a parked attempt does not check');
  return { session, intent: first.intent, result: second?.kind === 'result' ? second.result : null };
}

function keyOf(ledger: RealmLedger, batch: BatchId): string {
  return `${ledger.keyPrefix}:${PARKED}:${batch}`;
}
