import { z } from 'zod';
import type { BatchId, OrderId } from '../../core/ids.js';
import { REFERENCE_HASH_BYTES, referenceHash } from '../../core/reference.js';
import type { OrderState } from '../../core/states.js';
import {
  askRealm,
  askScript,
  type BatchRef,
  batchFacts,
  type RealmLedger,
  storeNowMs,
} from '../realm-ledger.js';
import { stateOfCode } from '../record.js';
import { parseHolder, REF_BYTES, type ReferenceHolder } from '../reference.js';
import { listFromLua } from '../script-client.js';
import { readFence, storeSeen } from './fence.js';

/** What a plan is compared with: spent references, earlier orders, requests that may still arrive. */

/** Why a row may not speak of an order: the ledger has it no more, it is in this state, or another row does already. */
export type EarlierWhy =
  | 'gone'
  | 'archived'
  | { readonly state: OrderState }
  /** The number of the batch whose row stands in for it. */
  | { readonly replacedBy: string }
  /** It was resolved as unpaid, and its request may arrive until then. */
  | { readonly arrivesUntil: number };

function whyOf(text: string): EarlierWhy {
  if (text === 'gone' || text === 'archived') return text;
  const state = stateOfCode(text);
  if (state !== null) return { state };
  return text.startsWith('r') ? { replacedBy: text.slice(1) } : { arrivesUntil: Number(text.slice(1)) };
}

/** A row may not stand in for this order, or undo it. */
export type EarlierConflict = {
  readonly kind: 'replaces' | 'undoes';
  readonly row: number;
  readonly no: string;
  readonly index: number;
  readonly why: EarlierWhy;
};

/** An earlier order of which a row speaks, and the row's index. */
export type EarlierOrder = readonly [no: string, index: string, row: string, batch?: BatchId];

export const earlierEntry = z
  .tuple([z.enum(['replaces', 'undoes']), z.string(), z.string(), z.string(), z.string()])
  .transform(
    ([kind, row, no, index, why]): EarlierConflict => ({
      kind,
      row: Number(row),
      no,
      index: Number(index),
      why: whyOf(why),
    }),
  );

/** What the put would say of rows that stand in for these orders; an import that has not finished takes none yet. */
export async function judgeReplaced(
  ledger: RealmLedger,
  orders: readonly EarlierOrder[],
): Promise<EarlierConflict[]> {
  if (orders.length === 0) return [];
  const reply = await ledger.scripts.script('judge-replaced', ledger.keyPrefix, [JSON.stringify(orders)]);
  return listFromLua(z.string().parse(reply)).map((entry) => earlierEntry.parse(entry));
}

/** Rows without references are compared with the orders of so long. */
export const LOOK_BACK_MS = 30 * 24 * 3600_000;

/**
 * `seals` is raised by every seal of the realm and by a loss that is accepted, `retries` by every order that was
 * over and is paid, or may be, after all: what was judged at these numbers is sealed or retried at them, or not.
 */
export type Judged = {
  readonly seals: string;
  readonly retries: string;
  /** What was judged in another store says nothing of this one (`storeSeen`). */
  readonly store: string;
};

export async function judgedAt(ledger: RealmLedger): Promise<Judged> {
  const store = storeSeen(await readFence(ledger));
  const [seals, retries] = await askRealm(ledger, 'read seals', (redis, T) =>
    redis.hmget(T, 'seals', 'retries'),
  );
  return { seals: seals ?? '0', retries: retries ?? '0', store };
}

/**
 * The same for dead letters of one batch, whose own retries move nothing: they are compared together, and equal rows of
 * one file are all meant.
 */
export async function judgedBeside({ ledger, no }: BatchRef): Promise<string> {
  // In this order: an own retry between the two reads leaves a number that is never reached again.
  const { seals, retries } = await judgedAt(ledger);
  const [own] = await batchFacts({ ledger, no }, 'retried');
  return `${seals} ${Number(retries) - Number(own)}`;
}

/** Who keeps each reference spent, if anybody. */
export async function findSpent(
  ledger: RealmLedger,
  references: readonly string[],
  /** The same references as `referenceHash` gives them, where that was done already. */
  hashes: readonly string[] = references.map(referenceHash),
): Promise<Map<string, ReferenceHolder>> {
  if (references.length === 0) return new Map();
  // One packed argument: as two each, a thousand arguments cost more than the look-up.
  const packed = Buffer.from(hashes.join(''), 'latin1');
  const reply = await askScript(ledger, 'find-spent', [packed]);
  const spent = new Map<string, ReferenceHolder>();
  for (let i = 0; i < reply.length; i += 2) {
    const reference = references[Number(reply[i])];
    if (reference !== undefined) spent.set(reference, parseHolder(reply[i + 1] ?? ''));
  }
  return spent;
}

/** Who keeps each reference of a block spent, by its place there; undefined where nobody does. */
export async function spentPlaces(
  ledger: RealmLedger,
  refs: Buffer,
): Promise<[place: number, holder: ReferenceHolder | undefined][]> {
  const places: number[] = [];
  const hashes: string[] = [];
  for (let at = 0; at < refs.length; at += REF_BYTES) {
    places.push(refs.readUInt8(at));
    hashes.push(refs.toString('latin1', at + 1, at + 1 + REFERENCE_HASH_BYTES));
  }
  const spent = await findSpent(ledger, hashes, hashes);
  return places.map((place, i) => [place, spent.get(hashes[i] ?? '')]);
}

/** As in includes/record.lua, until a worker has noted its profile's. */
export const SETTLE_MS = 1_200_000;

/** What the scripts reckon in `mayArriveUntil` (includes/record.lua), for those who only look. */
export type Arrivals = {
  readonly nowMs: number;
  /** Until when requests may still arrive that were to be over by `ms`; null where they are. */
  readonly until: (ms: number | null) => number | null;
};

/** What may still arrive is judged by the store's clock, which may have been found stepped. */
export async function readArrivals(ledger: RealmLedger): Promise<Arrivals> {
  const [nowMs, [stepped, settle]] = await askRealm(ledger, 'read the clock', (redis, T) =>
    Promise.all([storeNowMs(ledger), redis.hmget(T, 'steppedUntil', 'settleMs')]),
  );
  const steppedMs = Number(stepped ?? 0);
  const held = steppedMs <= nowMs + Number(settle ?? SETTLE_MS) ? steppedMs : 0;
  return {
    nowMs,
    until: (ms) => (ms === null || Math.max(ms, held) <= nowMs ? null : Math.max(ms, held)),
  };
}

/** Of each order, whether a paid undo took it back. */
export async function areUndone(ledger: RealmLedger, orders: readonly OrderId[]): Promise<boolean[]> {
  if (orders.length === 0) return [];
  const found = await askRealm(ledger, 'find undone', (redis, T) =>
    redis.smismember(`${T}:undone`, ...orders),
  );
  return found.map((one) => one === 1);
}
