import { z } from 'zod';
import { type BatchId, batchId } from '../core/ids.js';
import type { Books } from './books.js';
import { storeNowMs } from './feeding.js';
import { decodeEntry, encodeEntry, type Intent } from './journal-line.js';
import type { JournaledAttempt } from './journal-reader.js';

/**
 * Payments that a journal knows and whose batch the ledger does not have: the store was rolled back to
 * before its import. They are kept under the batch's id, which comes from its orders: when the same file is
 * imported again, nothing of it is fed until they have been put back (see lua/feed).
 */
const PARKED = 'parked';
/** Instead of '1': a person has accepted that the store and the journals together do not know all of it. */
const INCOMPLETE = 'incomplete';

const stored = z.object({ session: z.string(), intent: z.string(), result: z.string().nullable() });

export async function park(books: Books, { session, intent, result }: JournaledAttempt): Promise<void> {
  const value = {
    session,
    intent: encodeEntry({ kind: 'intent', intent }),
    result: result === null ? null : encodeEntry({ kind: 'result', result }),
  };
  await books.caller.script('park', books.realm, [intent.batch, intent.nonce, JSON.stringify(value)]);
}

/** Whether this very attempt is kept already. */
export async function isParked(books: Books, intent: Intent): Promise<boolean> {
  return (await books.caller.redis.hexists(keyOf(books, intent.batch), intent.nonce)) === 1;
}

export type ParkedBatch = {
  readonly batch: BatchId;
  readonly attempts: readonly JournaledAttempt[];
  /** A person has accepted that what was sent of it is not known completely. */
  readonly incomplete: boolean;
};

/**
 * Of all batches that are parked, now or later: more may have been sent of them than any journal knows. Plans that
 * were judged before are judged again at their seal.
 */
export async function markForgotten(books: Books): Promise<void> {
  const { redis } = books.caller;
  await books.caller.patiently('mark parked', async () => {
    const at = await storeNowMs(books);
    await redis.multi().hset(books.realm, 'gap', at).hincrby(books.realm, 'seals', 1).exec();
    for (const batch of await redis.hkeys(`${books.realm}:${PARKED}`))
      await redis.hset(`${books.realm}:${PARKED}`, batch, INCOMPLETE);
  });
}

/** When a person accepted last that the store has forgotten more than the journals know; null where nobody did. */
export async function lossAcceptedAt(books: Books): Promise<number | null> {
  const { redis } = books.caller;
  const at = await books.caller.patiently('read loss', () => redis.hget(books.realm, 'gap'));
  return at === null ? null : Number(at);
}

/** Whether payments of this batch are kept for the day it is imported again. */
export async function hasParked(books: Books, batch: BatchId): Promise<boolean> {
  const { redis } = books.caller;
  return (
    (await books.caller.patiently('find parked', () => redis.hexists(`${books.realm}:${PARKED}`, batch))) ===
    1
  );
}

/** The ids of all batches that payments are kept of. */
export async function parkedBatches(books: Books): Promise<ReadonlySet<string>> {
  const { redis } = books.caller;
  return new Set(await books.caller.patiently('list parked', () => redis.hkeys(`${books.realm}:${PARKED}`)));
}

export async function parkedAttempts(books: Books): Promise<ParkedBatch[]> {
  const { redis } = books.caller;
  const batches = await books.caller.patiently('list parked', () =>
    redis.hgetall(`${books.realm}:${PARKED}`),
  );
  return Promise.all(
    Object.entries(batches).map(async ([text, mark]) => {
      const batch = batchId(text);
      const values = await books.caller.patiently('read parked', () => redis.hvals(keyOf(books, batch)));
      return { batch, attempts: values.map(decodeParked), incomplete: mark === INCOMPLETE };
    }),
  );
}

/** These were put back into their batch; what others have put by meanwhile stays. */
export async function forgetParked(
  books: Books,
  { batch, attempts }: Pick<ParkedBatch, 'batch' | 'attempts'>,
): Promise<void> {
  const nonces = attempts.map(({ intent }) => intent.nonce);
  await books.caller.script('unpark', books.realm, [batch, JSON.stringify(nonces)]);
}

function decodeParked(json: string): JournaledAttempt {
  const { session, intent, result } = stored.parse(JSON.parse(json));
  const first = decodeEntry(intent.trimEnd());
  const second = result === null ? undefined : decodeEntry(result.trimEnd());
  if (first?.kind !== 'intent') throw new Error('a parked attempt does not check');
  return { session, intent: first.intent, result: second?.kind === 'result' ? second.result : null };
}

function keyOf(books: Books, batch: BatchId): string {
  return `${books.realm}:${PARKED}:${batch}`;
}
