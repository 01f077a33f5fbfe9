import { LONGEST_PAUSE_MS } from '../../core/decide.js';
import { batchKeys } from '../keys.js';
import { askRealm, askScript, type RealmLedger, storeNowMs } from '../realm-ledger.js';

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

export async function openBatches(ledger: RealmLedger, horizonMs: number): Promise<OpenBatch[]> {
  return askRealm(ledger, 'list open batches', async (redis, T) => {
    const [numbers, nowMs] = await Promise.all([redis.smembers(`${T}:open`), storeNowMs(ledger)]);
    if (numbers.length === 0) return [];
    const until = nowMs + horizonMs;
    const found = await Promise.all(
      numbers.map(async (no) => {
        const keys = batchKeys(T, no);
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
export async function feed(ledger: RealmLedger, no: string, most: number, owner: string): Promise<number[]> {
  const { seen, era, session, begun } = ledger.mark;
  return (await askScript(ledger, 'feed', [no, most, owner, seen, era, session, begun])).map(Number);
}

/** What should have been worked on by now, and what a clock that was stepped back has put off for too long. */
export async function overdue(
  ledger: RealmLedger,
  no: string,
  lateByMs: number,
  most: number,
): Promise<number[]> {
  const key = batchKeys(ledger.keyPrefix, no).due;
  return ledger.scripts.ask('list overdue', async (redis) => {
    const nowMs = await storeNowMs(ledger);
    const [late, strayed] = await Promise.all([
      redis.zrangebyscore(key, '-inf', nowMs - lateByMs, 'LIMIT', 0, most),
      redis.zrangebyscore(key, nowMs + LONGEST_PAUSE_MS, '+inf', 'LIMIT', 0, most),
    ]);
    return [...late, ...strayed].map(Number);
  });
}

/** Everything dispatched and not settled, whenever it is due, with the time it is due. */
export async function dispatched(
  ledger: RealmLedger,
  no: string,
): Promise<{ index: number; dueAt: number }[]> {
  const key = batchKeys(ledger.keyPrefix, no).due;
  const flat = await ledger.scripts.ask('list dispatched', (redis) =>
    redis.zrange(key, 0, '-1', 'WITHSCORES'),
  );
  const entries: { index: number; dueAt: number }[] = [];
  for (let i = 0; i < flat.length; i += 2)
    entries.push({ index: Number(flat[i]), dueAt: Number(flat[i + 1]) });
  return entries;
}

/** The dispatch generation of each order; 0 until it was dispatched anew. */
export async function generationsOf(
  ledger: RealmLedger,
  no: string,
  indexes: readonly number[],
): Promise<number[]> {
  if (indexes.length === 0) return [];
  const key = batchKeys(ledger.keyPrefix, no).generations;
  const found = await ledger.scripts.ask('read generations', (redis) =>
    redis.hmget(key, ...indexes.map(String)),
  );
  return found.map((text) => Number(text ?? 0));
}

export async function redispatch(
  ledger: RealmLedger,
  no: string,
  owner: string,
  indexes: readonly number[],
): Promise<{ generation: number; indexes: number[] }> {
  const [generation = 0, ...open] = (await askScript(ledger, 'redispatch', [no, owner, ...indexes])).map(
    Number,
  );
  return { generation, indexes: open };
}

/** A cancelled batch stays open while an unknown in it is unresolved; then it is closed here. */
export async function closeIfIdle(ledger: RealmLedger, no: string): Promise<void> {
  await ledger.scripts.script('close-idle', ledger.keyPrefix, [no]);
}
