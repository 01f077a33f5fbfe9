import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Books } from './books.js';
import { texts } from './caller.js';
import { decodeReason } from './steering.js';
import type { Reason } from './views.js';

/** The fence as TypeScript sees it; lua/includes/fence.lua tells what it is for. */

export type Fence = {
  readonly run: string;
  readonly armed: boolean;
  /** Nothing was ever sent from these books, as far as they know. */
  readonly untouched: boolean;
  readonly era: string;
  readonly seq: number;
  /** Why it stays disarmed until a person acts; null while recovery is still at it. */
  readonly reason: Reason | null;
  readonly rollback: Rollback | null;
};

/** The last time that the store was found to have forgotten something. */
const rollback = z.object({
  at: z.number(),
  seen: z.number(),
  found: z.number(),
  by: z.string(),
  /** Found by what the journals knew and it did not, where answers under way had overtaken the sequence. */
  attempts: z.number().optional(),
});
export type Rollback = z.infer<typeof rollback>;

export async function readFence(books: Books): Promise<Fence> {
  const [run = '', armed = '', era = '', seq = '0', reason = '', note = ''] = texts(
    await books.caller.script('fence', books.realm, []),
  );
  return {
    run,
    armed: armed === run,
    untouched: armed === '' && era === '' && seq === '0' && note === '',
    era,
    seq: Number(seq),
    reason: decodeReason(reason),
    rollback: note === '' ? null : rollback.parse(JSON.parse(note)),
  };
}

/** What a sender has seen and the ledger no longer knows disarms it. */
export async function disarm(books: Books, note: Rollback): Promise<boolean> {
  const reply = await books.caller.script('disarm', books.realm, [note.seen, JSON.stringify(note), note.by]);
  return reply === 'disarmed';
}

/** Only said: the journals are merged already. */
export async function noteRollback(books: Books, note: Rollback): Promise<void> {
  const { redis } = books.caller;
  await books.caller.patiently('note rollback', () =>
    redis.hset(books.realm, 'rollback', JSON.stringify(note)),
  );
}

export async function reportMerged(
  books: Books,
  run: string,
  session: string,
  seen: number,
): Promise<boolean> {
  return (await books.caller.script('merged', books.realm, [run, session, seen])) === 'ok';
}

export type Armed =
  | { readonly answer: 'armed'; readonly era: string }
  | { readonly answer: 'waiting'; readonly sessions: readonly string[] }
  | { readonly answer: 'changed' };

export async function arm(books: Books, run: string, seen: number): Promise<Armed> {
  const era = randomBytes(6).toString('hex');
  const [answer, ...rest] = texts(await books.caller.script('arm', books.realm, [run, era, seen]));
  if (answer === 'armed') return { answer, era: rest[0] ?? '' };
  return answer === 'waiting' ? { answer, sessions: rest } : { answer: 'changed' };
}

/** Said in `status`, `doctor` and on the desk; arming takes it away. */
export async function sayDisarmed(books: Books, reason: Reason): Promise<void> {
  const { redis } = books.caller;
  await books.caller.patiently('note fence', () =>
    redis.hset(books.realm, 'fenceReason', JSON.stringify(reason)),
  );
}
