import { LONGEST_PAUSE_MS } from '../core/backoff.js';
import type { Books } from './books.js';
import { texts } from './caller.js';
import { batchKeys } from './keys.js';

/** What feeder and sweeper ask of the ledger: which batches have work, what is due, who dispatches it. */

export type OpenBatch = {
  readonly no: string;
  readonly id: string;
  readonly state: string;
  /** The session whose run it is; empty for a batch of the workers. */
  readonly owner: string;
  readonly cursor: number;
  readonly rows: number;
  /** Orders that are dispatched and due within the horizon. */
  readonly dueSoon: number;
};

export async function openBatches(books: Books, horizonMs: number): Promise<OpenBatch[]> {
  const { redis } = books.caller;
  return books.caller.patiently('list open batches', async () => {
    const [numbers, nowMs] = await Promise.all([redis.smembers(`${books.realm}:open`), storeNowMs(books)]);
    if (numbers.length === 0) return [];
    const until = nowMs + horizonMs;
    const found = await Promise.all(
      numbers.map(async (no) => {
        const keys = batchKeys(books.realm, no);
        const [meta, dueSoon] = await Promise.all([
          redis.hmget(keys.meta, 'id', 'state', 'owner', 'cursor', 'rows'),
          redis.zcount(keys.due, '-inf', until),
        ]);
        const [id, state, owner, cursor, rows] = meta;
        return {
          no,
          id: id ?? '',
          state: state ?? '',
          owner: owner ?? '',
          cursor: Number(cursor),
          rows: Number(rows),
          dueSoon,
        };
      }),
    );
    return found.sort((a, b) => Number(a.no) - Number(b.no));
  });
}

/** Takes up to `most` planned orders for dispatch. */
export async function feed(books: Books, no: string, most: number, owner: string): Promise<number[]> {
  return texts(await books.caller.script('feed', books.realm, [no, most, owner])).map(Number);
}

/** What should have been worked on by now, and what a clock that was stepped back has put off for too long. */
export async function overdue(books: Books, no: string, lateByMs: number, most: number): Promise<number[]> {
  const { redis } = books.caller;
  const key = batchKeys(books.realm, no).due;
  return books.caller.patiently('list overdue', async () => {
    const nowMs = await storeNowMs(books);
    const [late, strayed] = await Promise.all([
      redis.zrangebyscore(key, '-inf', nowMs - lateByMs, 'LIMIT', 0, most),
      redis.zrangebyscore(key, nowMs + LONGEST_PAUSE_MS, '+inf', 'LIMIT', 0, most),
    ]);
    return [...late, ...strayed].map(Number);
  });
}

/** Due times are the store's: this machine's clock may be another one, or be stepped. */
export async function storeNowMs({ caller }: Books): Promise<number> {
  const [seconds, micros] = await caller.patiently('read the clock', () => caller.redis.time());
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Everything dispatched and not settled, whenever it is due, with the time it is due. */
export async function dispatched(books: Books, no: string): Promise<{ index: number; dueAt: number }[]> {
  const { redis } = books.caller;
  const key = batchKeys(books.realm, no).due;
  const flat = await books.caller.patiently('list dispatched', () =>
    redis.zrange(key, 0, '-1', 'WITHSCORES'),
  );
  const entries: { index: number; dueAt: number }[] = [];
  for (let i = 0; i < flat.length; i += 2)
    entries.push({ index: Number(flat[i]), dueAt: Number(flat[i + 1]) });
  return entries;
}

/** The dispatch generation of each order; 0 until it was dispatched anew. */
export async function generationsOf(books: Books, no: string, indexes: readonly number[]): Promise<number[]> {
  if (indexes.length === 0) return [];
  const { redis } = books.caller;
  const key = batchKeys(books.realm, no).generations;
  const found = await books.caller.patiently('read generations', () =>
    redis.hmget(key, ...indexes.map(String)),
  );
  return found.map((text) => Number(text ?? 0));
}

export async function redispatch(
  books: Books,
  no: string,
  owner: string,
  indexes: readonly number[],
): Promise<{ generation: number; indexes: number[] }> {
  const [generation = 0, ...open] = texts(
    await books.caller.script('redispatch', books.realm, [no, owner, ...indexes]),
  ).map(Number);
  return { generation, indexes: open };
}

/** A cancelled batch stays open while an unknown in it is unresolved; then it is closed here. */
export async function closeIfIdle(books: Books, no: string): Promise<void> {
  const keys = batchKeys(books.realm, no);
  const { redis } = books.caller;
  await books.caller.patiently('close batch', async () => {
    const [sending, unknown] = await redis.hmget(keys.counters, 'c:s', 'c:u');
    if (Number(sending ?? 0) + Number(unknown ?? 0) === 0) await redis.srem(`${books.realm}:open`, no);
  });
}
