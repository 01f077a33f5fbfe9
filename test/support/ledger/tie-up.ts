import { membersOf } from '../../../src/core/order.js';
import { type OrderState, SPENDING_STATES } from '../../../src/core/states.js';
import { batchKeys } from '../../../src/ledger/keys.js';
import { type BatchRef, listBatches } from '../../../src/ledger/read/batches.js';
import { findSpent } from '../../../src/ledger/read/earlier.js';
import { PlanReader } from '../../../src/ledger/read/plan-reader.js';
import { readRecord } from '../../../src/ledger/read/rows.js';
import { batchFacts, type RealmLedger, storeNowMs } from '../../../src/ledger/realm-ledger.js';
import { decodeRecord, type OrderRecord, STATE_CODES } from '../../../src/ledger/record.js';
import type { ReferenceHolder } from '../../../src/ledger/reference.js';
import { decodeManifest } from '../../../src/ledger/views.js';
import type { PlannedRow } from './ledgers-on-redis.js';

/**
 * An auditor that shares nothing with the scripts: it reads plan and records, adds everything up again and
 * compares with what the ledger claims. Answers what does not tie, in words; nothing at all means it does.
 */

/** The UTC day of a moment. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

type Audited = {
  readonly ref: BatchRef;
  readonly state: string;
  readonly cursor: number;
  readonly orders: readonly {
    readonly index: number;
    readonly row: PlannedRow;
    readonly record: OrderRecord;
    readonly state: OrderState;
  }[];
  readonly due: ReadonlySet<string>;
  readonly waiting: Readonly<Record<string, string>>;
  readonly holding: Readonly<Record<string, string>>;
};

export async function tieUp(ledger: RealmLedger): Promise<string[]> {
  const faults: string[] = [];
  const batches: Audited[] = [];
  for (const ref of await listBatches(ledger)) {
    const audited = await auditBatch(ref, faults);
    if (audited !== null) batches.push(audited);
  }
  const undone = new Set(batches.flatMap(({ orders }) => orders.flatMap(undoneBy)));
  for (const batch of batches) {
    checkDispatch(batch, faults);
    await checkReferences(ledger, batch, undone, faults);
  }
  await checkDays(ledger, batches, faults);
  await checkAccounts(ledger, batches, faults);
  await checkHolds(ledger, batches, faults);
  return faults;
}

const RANK = { sending: 1, unknown: 2, refused: 3, exhausted: 4, doubt: 5 } as const;
const CODES = { w: 'p' } as Readonly<Record<string, string>>;

async function auditBatch(ref: BatchRef, faults: string[]): Promise<Audited | null> {
  const { redis } = ref.ledger.scripts;
  const keys = batchKeys(ref.ledger.keyPrefix, ref.no);
  const [meta, counters, attention, due, waiting, holding, open] = await Promise.all([
    redis.hgetall(keys.meta),
    redis.hgetall(keys.counters),
    redis.zrange(keys.attention, 0, '-1', 'WITHSCORES'),
    redis.zrange(keys.due, 0, '-1'),
    redis.hgetall(keys.waiting),
    redis.hgetall(keys.holding),
    redis.sismember(`${ref.ledger.keyPrefix}:open`, ref.no),
  ]);
  if (meta.manifest === undefined) return null;
  const isRecovered = meta.recovered === '1';
  const rows = isRecovered ? Number(meta.rows) : decodeManifest(meta.manifest).rows;
  const known = new Set(await redis.hkeys(keys.recoveredRows));
  const plans = new PlanReader(ref.ledger);
  const counts = new Map<string, number>();
  const sums = new Map<string, bigint>();
  const seen = new Map<string, string>();
  const orders: Audited['orders'][number][] = [];
  const blocks = Array.from({ length: Math.ceil(rows / 128) }, (_, block) => keys.records(block));
  const records = await Promise.all(blocks.map((key) => redis.hgetall(key)));
  for (let index = 1; index <= rows; index++) {
    if (isRecovered && !known.has(String(index))) continue;
    const row = await plans.row(ref.no, index);
    const record = decodeRecord(records[Math.floor((index - 1) / 128)]?.[String(index)]);
    const cancelled = meta.state === 'cancelled' && (record.code === 'w' || record.code === 'p');
    const code = cancelled ? 'c' : (CODES[record.code] ?? record.code);
    const state = cancelled ? 'cancelled' : STATE_CODES[record.code];
    counts.set(code, (counts.get(code) ?? 0) + 1);
    sums.set(code, (sums.get(code) ?? 0n) + BigInt(row.order?.tokens ?? 0));
    const rank = Object.entries(RANK).find(([name]) => name === state)?.[1];
    if (rank !== undefined) seen.set(String(index), String(rank * 2 ** 32 + index));
    // A row that was left out, and that a journal knows as paid, is an order after all.
    if (row.order !== null && (row.duplicateOf === null || state === 'paid'))
      orders.push({ index, row: { ...row, order: row.order }, record, state });
  }
  const say = (what: string) => faults.push(`batch ${ref.no} (${meta.state}): ${what}`);
  const codes = new Set([...counts.keys(), ...Object.keys(counters).map((field) => field.slice(2))]);
  for (const code of codes) {
    const count = Number(counters[`c:${code}`] ?? 0);
    const sum = BigInt(counters[`t:${code}`] ?? 0);
    if (count !== (counts.get(code) ?? 0)) say(`${count} counted in ${code}, ${counts.get(code) ?? 0} found`);
    if (sum !== (sums.get(code) ?? 0n)) say(`sum ${sum} in ${code}, ${sums.get(code) ?? 0n} found`);
  }
  const listed = new Map<string, string>();
  for (let i = 0; i < attention.length; i += 2) listed.set(attention[i] ?? '', attention[i + 1] ?? '');
  if (!sameEntries(listed, seen)) say(`attention lists ${show(listed)}, records say ${show(seen)}`);
  const aside = orders.filter(
    ({ state, record: { marks } }) => (state === 'refused' || state === 'exhausted') && marks.length > 0,
  ).length;
  if (Number(meta.aside ?? 0) !== aside) say(`${meta.aside} dead letters counted as aside, ${aside} found`);
  const left = (counts.get('p') ?? 0) + (counts.get('s') ?? 0) + (counts.get('u') ?? 0);
  if (meta.state === 'done' && left > 0) say(`${left} orders are left in a batch that is done`);
  if (meta.state === 'running' && left === 0) say('nothing is left in a batch that runs');
  if ((meta.state === 'running' || left > 0) && meta.state !== 'cancelled' && open === 0) say('is not open');
  if (meta.state === 'done' && open === 1) say('is still open');
  return {
    ref,
    state: meta.state ?? '',
    cursor: Number(meta.cursor),
    orders,
    due: new Set(due),
    waiting,
    holding,
  };
}

/** No order that is to be worked on may be in nobody's list, and nothing that is over may stand in one. */
function checkDispatch(batch: Audited, faults: string[]): void {
  const say = (what: string) => faults.push(`batch ${batch.ref.no} (${batch.state}): ${what}`);
  for (const { index, state } of batch.orders) {
    const due = batch.due.has(String(index));
    const waits = batch.waiting[String(index)] !== undefined;
    if (due && waits) say(`order ${index} is due and waits as well`);
    if (due && !['planned', 'sending', 'unknown'].includes(state))
      say(`order ${index} is due though ${state}`);
    if (waits && state !== 'planned' && state !== 'unknown') say(`order ${index} waits though ${state}`);
    if (state === 'unknown' && !due && !waits) say(`order ${index} is unknown and nobody will resolve it`);
    if (state === 'planned' && index < batch.cursor && !due && !waits)
      say(`order ${index} is lost to everybody`);
  }
}

/** The order whose reference a paid undo has freed. */
function undoneBy({ state, row: { undoes } }: Audited['orders'][number]): string[] {
  return undoes === null || undoes.shard === '' || state !== 'paid' ? [] : [`${undoes.no}:${undoes.index}`];
}

async function checkReferences(
  ledger: RealmLedger,
  batch: Audited,
  undone: ReadonlySet<string>,
  faults: string[],
): Promise<void> {
  // By the clock that the scripts go by.
  const nowMs = await storeNowMs(ledger);
  for (const { index, row, state, record } of batch.orders) {
    if (row.reference === null) continue;
    const holder = (await findSpent(ledger, [row.reference])).get(row.reference);
    const mine = holder?.no === batch.ref.no && holder.index === index;
    const arrives = (record.arrivesUntil ?? 0) > nowMs;
    const spends =
      ((SPENDING_STATES as readonly OrderState[]).includes(state) || arrives) &&
      !undone.has(`${batch.ref.no}:${index}`);
    // What another order was paid under in a past that the store had forgotten is that one's.
    if (spends && !mine && holder !== undefined && (await isPaid(ledger, holder))) continue;
    if (mine !== spends)
      faults.push(
        `batch ${batch.ref.no}: reference of ${state} order ${index} is ${mine ? '' : 'not '}spent`,
      );
  }
}

async function isPaid(ledger: RealmLedger, { no, index }: ReferenceHolder): Promise<boolean> {
  const [state] = await batchFacts({ ledger, no }, 'state');
  return state === 'archived' || (await readRecord({ ledger, no }, index)).code === 'P';
}

/** The day's sum is what was sent and not proven unapplied. */
async function checkDays(ledger: RealmLedger, batches: readonly Audited[], faults: string[]): Promise<void> {
  const found = new Map<string, string>();
  for (const { orders } of batches)
    for (const { state, record, row } of orders)
      if (['sending', 'unknown', 'doubt', 'paid'].includes(state)) {
        // Given up with a lost journal before it was known to be sent: its record does not say the day.
        if (record.sentAt === null) return;
        const day = utcDay(record.sentAt);
        found.set(day, String(BigInt(found.get(day) ?? 0) + BigInt(row.order.tokens)));
      }
  const days = await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:days`);
  const kept = new Map(Object.entries(days).filter(([, sum]) => sum !== '0'));
  if (!sameEntries(kept, found)) faults.push(`days say ${show(kept)}, orders say ${show(found)}`);
}

/** A rule's account holds what is paid or may be of its orders, less what was undone. */
async function checkAccounts(
  ledger: RealmLedger,
  batches: readonly Audited[],
  faults: string[],
): Promise<void> {
  const held = new Map<string, string>();
  const add = (sums: Map<string, string>, account: string, tokens: number) =>
    sums.set(account, String(BigInt(sums.get(account) ?? 0) + BigInt(tokens)));
  for (const { ref, orders } of batches) {
    const planned = new Map<string, string>();
    for (const { state, row } of orders) {
      const [, account] = /^rule:([^:]+:[^:]+):/.exec(row.reference ?? '') ?? [];
      const { tokens } = row.order;
      if (row.undoes?.account !== undefined && state === 'paid' && !(await isPaidTwice(ledger, row.undoes)))
        add(held, row.undoes.account, -tokens);
      if (account === undefined) continue;
      if ((SPENDING_STATES as readonly OrderState[]).includes(state)) add(held, account, tokens);
      if (state === 'planned') add(planned, `a:${account}`, tokens);
    }
    const counters = await ledger.scripts.redis.hgetall(batchKeys(ledger.keyPrefix, ref.no).counters);
    const kept = new Map(
      Object.entries(counters).filter(([field, sum]) => field.startsWith('a:') && sum !== '0'),
    );
    if (!sameEntries(kept, planned))
      faults.push(`batch ${ref.no}: planned of accounts ${show(kept)}, orders say ${show(planned)}`);
  }
  const accounts = await ledger.scripts.redis.hgetall(`${ledger.keyPrefix}:held`);
  const kept = new Map(Object.entries(accounts).filter(([, sum]) => sum !== '0'));
  const found = new Map([...held].filter(([, sum]) => sum !== '0'));
  if (!sameEntries(kept, found)) faults.push(`accounts say ${show(kept)}, orders say ${show(found)}`);
}

/** One payment of two that was taken back leaves the other. */
async function isPaidTwice(
  ledger: RealmLedger,
  { no, index }: { no: string; index: string },
): Promise<boolean> {
  const said = await ledger.scripts.redis.hget(batchKeys(ledger.keyPrefix, no).meta, 'second');
  return (said ?? '').includes(` ${index}:`);
}

/** Whoever holds a member says so in both places; whoever waits for one waits for one that is held. */
async function checkHolds(ledger: RealmLedger, batches: readonly Audited[], faults: string[]): Promise<void> {
  const { redis } = ledger.scripts;
  const holders = new Map<string, string>();
  const queued = new Map<string, string[]>();
  for (const key of await redis.keys(`${ledger.keyPrefix}:hold:*`))
    holders.set(key.slice(`${ledger.keyPrefix}:hold:`.length), (await redis.get(key)) ?? '');
  for (const key of await redis.keys(`${ledger.keyPrefix}:wait:*`))
    queued.set(key.slice(`${ledger.keyPrefix}:wait:`.length), await redis.lrange(key, 0, -1));
  const noted = new Map<string, string>();
  for (const { ref, state: batchState, orders, waiting, holding } of batches)
    for (const { index, state, row } of orders) {
      const order = `${ref.no}:${index}`;
      const [, ...holds] = holding[String(index)]?.split(' ') ?? [];
      for (const member of holds) noted.set(member, order);
      if (holds.length > 0 && holds.join() !== membersOf(row.order).join())
        faults.push(`order ${order} holds ${holds.join()} only`);
      const may =
        state === 'sending' || state === 'unknown' || (state === 'planned' && batchState === 'running');
      if (holds.length > 0 && !may)
        faults.push(`order ${order} is ${state} in a ${batchState} batch and holds`);
      const [member, ...all] = waiting[String(index)]?.split(' ') ?? [];
      if (member === undefined) continue;
      if (batchState !== 'running') faults.push(`order ${order} waits in a batch that is ${batchState}`);
      if (all.join() !== membersOf(row.order).join()) faults.push(`order ${order} waits for ${all.join()}`);
      if (!holders.has(member)) faults.push(`order ${order} waits for ${member}, whom nobody holds`);
      if (!queued.get(member)?.includes(order)) faults.push(`order ${order} is in no queue for ${member}`);
      if (holds.length > 0) faults.push(`order ${order} holds and waits`);
    }
  if (!sameEntries(holders, noted)) faults.push(`holds are ${show(holders)}, orders say ${show(noted)}`);
}

function sameEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

function show(entries: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries(entries));
}
