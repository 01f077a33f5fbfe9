import { z } from 'zod';
import { LONGEST_PAUSE_MS } from '../../core/decide.js';
import { batchKeys } from '../keys.js';
import { askScript, type RealmLedger } from '../realm-ledger.js';
import { limitArguments } from './approvals.js';

/** What feeder and sweeper ask of the ledger: which batches have work, what is due, who dispatches it. */

export type OpenBatch = {
  readonly no: string;
  readonly id: string;
  readonly state: string;
  /** The session whose run it is; empty for a batch of the workers. */
  readonly owner: string;
  readonly cursor: number;
  readonly rows: number;
  /** Orders that are dispatched and not settled. */
  readonly dispatched: number;
  readonly sending: number;
};

/** All of them, by their numbers. Rounds ask for those alone that have work. */
export async function openBatches(ledger: RealmLedger): Promise<OpenBatch[]> {
  const flat = await askScript(ledger, 'open-batches', []);
  const found: OpenBatch[] = [];
  for (let at = 0; at < flat.length; at += FACTS) {
    const [no = '', id = '', state = '', owner = '', ...numbers] = flat.slice(at, at + FACTS);
    const [cursor = 0, rows = 0, dispatched = 0, sending = 0] = numbers.map(Number);
    found.push({ no, id, state, owner, cursor, rows, dispatched, sending });
  }
  return found.sort((a, b) => Number(a.no) - Number(b.no));
}

const FACTS = 8;

/** Whose batches are fed and swept: those of the workers, or the one that a run works itself. */
export type Deliverer = { readonly owner: string; readonly no: string };

export const WORKERS: Deliverer = { owner: '', no: '' };

/** The batches that may have orders to feed, those first at which nobody has looked for the longest time. */
export async function toFeed(ledger: RealmLedger, { owner, no }: Deliverer, most: number): Promise<string[]> {
  return askScript(ledger, 'feed-list', [owner, no, most]);
}

/** How many orders are dispatched and due within a while, up to so many. */
export async function dispatchedWithin(
  ledger: RealmLedger,
  { owner, no }: Deliverer,
  ms: number,
  most: number,
): Promise<number> {
  return Number(await ledger.scripts.script('count-dispatched', ledger.keyPrefix, [owner, no, ms, most]));
}

/** A batch, and how many of its orders may be fed at most. */
export type Share = readonly [no: string, most: number];

/** Takes planned orders of these batches for dispatch, `room` of them at most; answers with the indexes for each batch. */
export async function feedBatches(
  ledger: RealmLedger,
  shares: readonly Share[],
  room: number,
  owner: string,
): Promise<number[][]> {
  const { seen, era, session, begun } = ledger.mark;
  const limits = limitArguments(ledger.asked.requirement);
  const args = [JSON.stringify(shares), room, owner, seen, era, session, begun, ...limits];
  return fedReply.parse(await ledger.scripts.script('feed', ledger.keyPrefix, args));
}

const fedReply = z.array(z.array(z.coerce.number()));

/** Orders of a batch, each with the generation in which it was dispatched. */
export type Overdue = {
  readonly no: string;
  readonly orders: readonly { readonly index: number; readonly generation: number }[];
};

/** What should have been worked on by now, and what a clock that was stepped back has put off for too long. */
export async function overdue(
  ledger: RealmLedger,
  { owner, no }: Deliverer,
  lateByMs: number,
  { most, everyBatch = false }: { readonly most: number; readonly everyBatch?: boolean },
): Promise<Overdue[]> {
  const args = [owner, no, lateByMs, LONGEST_PAUSE_MS, most, everyBatch ? '1' : ''];
  const reply = await ledger.scripts.script('overdue', ledger.keyPrefix, args);
  return overdueReply.parse(JSON.parse(String(reply))).map(([of, flat]) => ({
    no: of,
    orders: flat.flatMap((index, at) => (at % 2 === 1 ? [] : [{ index, generation: flat[at + 1] ?? 0 }])),
  }));
}

const overdueReply = z.array(z.tuple([z.string(), z.array(z.number())]));

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
