import { counted } from '../../core/counted.js';
import { isAlmonerError, messageOf } from '../../core/errors/error.js';
import { membersOf } from '../../core/order.js';
import { BATCH_STATES, type OrderState, SPENDING_STATES } from '../../core/states.js';
import { PLAN_BLOCK_ROWS } from '../keys.js';
import { type PlannedOrder, UNKNOWN_ROW } from '../plan-block.js';
import { type BatchRef, storeNowMs } from '../realm-ledger.js';
import { decodeRecord, type OrderRecord, STATE_CODES } from '../record.js';
import { decodeManifest } from '../views.js';
import {
  archivedRows,
  isPaidTwice,
  type Rows,
  readSmall,
  readSpent,
  type Small,
  type Source,
  stampOf,
  storedRows,
  type Unread,
  whatIsLost,
} from './verify-read.js';
import { accountsIn, add, nonZero, sameEntries, shown, utcDay } from './verify-sums.js';
import { BatchTotals } from './verify-totals.js';

/**
 * One batch, added up again from its plan and its records, without the scripts that wrote them. Rows are read block by
 * block, so that a million of them do not stand in memory. The sums that only tie over all batches go to verify.ts.
 */
type Ordered = {
  readonly index: number;
  readonly row: PlannedOrder;
  readonly record: OrderRecord;
  readonly state: OrderState;
};

/** Null for a batch that is not sealed; `same` where it still is as it was under `known`, an earlier stamp. */
export async function auditBatch(
  ref: BatchRef,
  known?: string | undefined,
): Promise<BatchAudit | Unread | 'same' | null> {
  const before = await readSmall(ref);
  if (stampOf(before) === known) return 'same';
  if (before.meta.manifest === undefined || before.meta.id !== ref.id) {
    const lost = await whatIsLost(ref, before);
    return lost === null ? null : new BatchAuditor(ref, before).unreadable(lost);
  }
  try {
    const found = await new BatchAuditor(ref, before).audit();
    return stampOf(await readSmall(ref)) === stampOf(before) ? found : { unread: 'moving' };
  } catch (error) {
    if (stampOf(await readSmall(ref)) !== stampOf(before)) return { unread: 'moving' };
    if (isAlmonerError(error, 'ALM_LEDGER_ARCHIVE_MISSING')) return { unread: 'away', why: error.message };
    throw error;
  }
}

const KNOWN_STATES: ReadonlySet<string> = new Set([...BATCH_STATES, 'waiting', 'archived']);
const RANK: Partial<Record<OrderState, number>> = {
  sending: 1,
  unknown: 2,
  refused: 3,
  exhausted: 4,
  doubt: 5,
};
const SENT: ReadonlySet<OrderState> = new Set(['sending', 'unknown', 'doubt', 'paid']);
const SPENDING: ReadonlySet<OrderState> = new Set(SPENDING_STATES);

class BatchAuditor {
  private readonly differences: string[] = [];
  private readonly counts = new Map<string, number>();
  private readonly sums = new Map<string, bigint>();
  private readonly listed = new Map<string, string>();
  private days: Map<string, bigint> | null = new Map();
  private totals: BatchTotals | null = null;
  private readonly held = new Map<string, bigint>();
  private readonly planned = new Map<string, bigint>();
  private readonly undone: string[] = [];
  private readonly references: MisheldReference[] = [];
  private readonly holds = new Map<string, string>();
  private readonly waits: { order: string; member: string }[] = [];
  private readonly due: ReadonlySet<string>;
  private orders = 0;
  private spent = 0;
  private readonly marked = new Set<string>();

  constructor(
    private readonly ref: BatchRef,
    private readonly small: Small,
  ) {
    this.due = new Set(small.due);
  }

  private get isArchived(): boolean {
    return this.small.meta.state === 'archived';
  }

  private say(what: string): void {
    const { state = 'no state' } = this.small.meta;
    this.differences.push(`batch ${this.ref.id} (no. ${this.ref.no}, ${state}): ${what}`);
  }

  async audit(): Promise<BatchAudit> {
    const { meta } = this.small;
    const { rows: planned, currency } = decodeManifest(meta.manifest ?? '');
    const last = meta.recovered === '1' ? Number(meta.rows) : planned;
    const nowMs = await storeNowMs(this.ref.ledger);
    const source = await this.rows();
    if (source === null) return this.found();
    this.totals = new BatchTotals(currency ?? '');
    this.totals.addWork(meta, source.latency);
    for (let block = 0; block * PLAN_BLOCK_ROWS < last; block++)
      await this.addBlock(block, last, source.rows, nowMs);
    this.compare();
    return this.found();
  }

  unreadable(what: string): BatchAudit {
    this.say(what);
    return { ...this.found(), days: null };
  }

  private found(): BatchAudit {
    const { differences, days, totals, held, undone, references, spent, holds, waits, orders } = this;
    const stamp = stampOf(this.small);
    const { no } = this.ref;
    return { no, stamp, differences, days, totals, held, undone, references, spent, holds, waits, orders };
  }

  /** Null where the archive is damaged: nothing is added up then. */
  private async rows(): Promise<Source | null> {
    const say = (what: string) => this.say(what);
    if (!this.isArchived) return storedRows(this.ref, say);
    try {
      return await archivedRows(this.ref, this.small.meta.archive, say);
    } catch (error) {
      if (isAlmonerError(error, 'ALM_LEDGER_ARCHIVE_MISSING')) throw error;
      this.say(`its archive cannot be read: ${messageOf(error)}`);
      this.days = null;
      return null;
    }
  }

  private async addBlock(block: number, last: number, read: Rows, nowMs: number): Promise<void> {
    const { meta } = this.small;
    const { rows, records } = await read(block);
    const isCancelled = (this.isArchived ? meta.ended : meta.state) === 'cancelled';
    const ordered: Ordered[] = [];
    for (const [offset, row] of rows.entries()) {
      const index = block * PLAN_BLOCK_ROWS + offset + 1;
      if (row === UNKNOWN_ROW || index > last) continue;
      const record = this.recordOf(index, records[String(index)]);
      if (record === null) continue;
      const cancelled = isCancelled && (record.code === 'w' || record.code === 'p');
      const state = cancelled ? 'cancelled' : STATE_CODES[record.code];
      const code = cancelled ? 'c' : record.code === 'w' ? 'p' : record.code;
      this.counts.set(code, (this.counts.get(code) ?? 0) + 1);
      add(this.sums, code, row.order?.tokens ?? 0);
      const rank = RANK[state];
      if (rank !== undefined) this.listed.set(String(index), String(rank * 2 ** 32 + index));
      this.orders += 1;
      // A row that was left out, and of which a journal knows an attempt, is an order after all.
      if (row.order !== null && (row.duplicateOf === null || state !== 'duplicate'))
        ordered.push({ index, row: { ...row, order: row.order }, record, state });
    }
    for (const one of ordered) {
      if (!this.isArchived) this.checkDispatch(one);
      this.noteHolds(one);
      await this.addSums(one);
    }
    await this.checkReferences(ordered, nowMs);
  }

  private recordOf(index: number, text: string | undefined): OrderRecord | null {
    try {
      return decodeRecord(text);
    } catch (error) {
      this.say(`the record of order ${index} cannot be read: ${messageOf(error)}`);
      return null;
    }
  }

  /** Counters, the list of what needs attention, and whether the batch is open, against what its records say. */
  private compare(): void {
    const { meta, counters, attention, open } = this.small;
    if (!KNOWN_STATES.has(meta.state ?? '')) this.say('no batch has that state');
    for (const code of new Set([
      ...this.counts.keys(),
      ...Object.keys(counters).map((name) => name.slice(2)),
    ])) {
      const [count, sum] = [Number(counters[`c:${code}`] ?? 0), BigInt(counters[`t:${code}`] ?? 0)];
      const [countFound, sumFound] = [this.counts.get(code) ?? 0, this.sums.get(code) ?? 0n];
      if (count !== countFound) this.say(`${count} counted in ${code}, ${countFound} found`);
      if (sum !== sumFound) this.say(`sum ${sum} in ${code}, ${sumFound} found`);
    }
    const listed = new Map<string, string>();
    for (let i = 0; i < attention.length; i += 2) listed.set(attention[i] ?? '', attention[i + 1] ?? '');
    if (this.isArchived) {
      this.compareArchived(listed);
      return;
    }
    if (!sameEntries(listed, this.listed))
      this.say(`attention lists ${shown(listed)}, records say ${shown(this.listed)}`);
    if (Number(meta.aside ?? 0) !== this.marked.size)
      this.say(`${meta.aside} dead letters counted as aside, ${this.marked.size} found`);
    const planned = accountsIn(counters);
    if (!sameEntries(planned, nonZero(this.planned)))
      this.say(`planned of accounts ${shown(planned)}, orders say ${shown(nonZero(this.planned))}`);
    const left = ['p', 's', 'u'].reduce((sum, code) => sum + (this.counts.get(code) ?? 0), 0);
    if (meta.state === 'done' && left > 0)
      this.say(`${counted(left, 'order is', 'orders are')} left in a batch that is done`);
    if (meta.state === 'running' && left === 0) this.say('nothing is left in a batch that runs');
    if ((meta.state === 'running' || left > 0) && meta.state !== 'cancelled' && open === 0)
      this.say('is not open');
    if (meta.state === 'done' && open === 1) this.say('is still open');
  }

  /** An archive cannot be marked: what was discarded since has left the list. */
  private compareArchived(listed: ReadonlyMap<string, string>): void {
    const { meta } = this.small;
    if (meta.purged !== '1') return;
    const strays = [...listed].filter(
      ([index, score]) => this.listed.get(index) !== score || this.marked.has(index),
    );
    if (strays.length > 0)
      this.say(`attention lists ${shown(new Map(strays))}, which are no open dead letters`);
    const aside = (this.counts.get('R') ?? 0) + (this.counts.get('X') ?? 0) - listed.size;
    if (Number(meta.aside ?? 0) !== aside)
      this.say(`${meta.aside} dead letters counted as aside, ${aside} are not listed`);
  }

  /** Every order that is to be worked on stands in one list, and no order that is over stands in any. */
  private checkDispatch({ index, state }: Ordered): void {
    const due = this.due.has(String(index));
    const waits = this.small.waiting[String(index)] !== undefined;
    if (due && waits) this.say(`order ${index} is due and waits as well`);
    if (due && !['planned', 'sending', 'unknown'].includes(state))
      this.say(`order ${index} is due though ${state}`);
    if (waits && state !== 'planned' && state !== 'unknown') this.say(`order ${index} waits though ${state}`);
    if (state === 'unknown' && !due && !waits)
      this.say(`order ${index} is unknown and nothing will resolve it`);
    if (state === 'planned' && index < Number(this.small.meta.cursor) && !due && !waits)
      this.say(`order ${index} is planned and in no list`);
  }

  private noteHolds({ index, state, row, record }: Ordered): void {
    const isDead = state === 'refused' || state === 'exhausted';
    if (isDead && record.marks.length > 0) this.marked.add(String(index));
    const { meta, holding, waiting } = this.small;
    const order = `${this.ref.no}:${index}`;
    const [, ...holds] = holding[String(index)]?.split(' ') ?? [];
    for (const member of holds) this.holds.set(member, order);
    const members = membersOf(row.order).join();
    if (holds.length > 0 && holds.join() !== members) this.say(`order ${index} holds ${holds.join()} only`);
    const may =
      state === 'sending' || state === 'unknown' || (state === 'planned' && meta.state === 'running');
    if (holds.length > 0 && !may) this.say(`order ${index} is ${state} and holds members`);
    const [member, ...all] = waiting[String(index)]?.split(' ') ?? [];
    if (member === undefined) return;
    if (meta.state !== 'running') this.say(`order ${index} waits for a member, and the batch does not run`);
    if (all.join() !== members) this.say(`order ${index} waits for ${all.join()}`);
    if (holds.length > 0) this.say(`order ${index} holds and waits`);
    this.waits.push({ order, member });
  }

  private async addSums({ state, record, row }: Ordered): Promise<void> {
    this.totals?.addOrder(row, record);
    const { tokens } = row.order;
    if (SENT.has(state)) {
      // Given up with a lost journal before it was known to be sent: its record does not say the day.
      if (record.sentAt === null) this.days = null;
      else if (this.days !== null) add(this.days, utcDay(record.sentAt), tokens);
    }
    if (row.undoes !== null && state === 'paid') {
      if (row.undoes.shard !== '') this.undone.push(`${row.undoes.no}:${row.undoes.index}`);
      if (row.undoes.account !== undefined && !(await isPaidTwice(this.ref.ledger, row.undoes)))
        add(this.held, row.undoes.account, -tokens);
    }
    const [, account] = /^rule:([^:]+:[^:]+):/.exec(row.reference ?? '') ?? [];
    if (account === undefined) return;
    if (SPENDING.has(state)) add(this.held, account, tokens);
    if (state === 'planned') add(this.planned, `a:${account}`, tokens);
  }

  private async checkReferences(ordered: readonly Ordered[], nowMs: number): Promise<void> {
    const { ledger, no } = this.ref;
    const references = ordered.flatMap(({ row }) => row.reference ?? []);
    const spent = await readSpent(ledger, references);
    for (const { index, row, state, record } of ordered) {
      if (row.reference === null) continue;
      const holder = spent.get(row.reference) ?? null;
      if (holder === 'malformed') {
        this.say(`what holds the reference of order ${index} cannot be read`);
        continue;
      }
      const mine = holder?.no === no && holder.index === index;
      if (mine) this.spent += 1;
      const arrives = (record.arrivesUntil ?? 0) > nowMs;
      const spends = SPENDING.has(state) || arrives;
      // A journal may have told later that an order of an archive was paid after all: its reference is spent.
      if (mine === spends || (this.isArchived && !spends)) continue;
      this.references.push({ order: `${no}:${index}`, state, mine, holder });
    }
  }
}

/** What the audit of one batch gives to the sums over all batches. */
export type BatchAudit = {
  readonly no: string;
  /** The batch as it was when it was read. While it reads the same, so does the rest. */
  readonly stamp: string;
  readonly orders: number;
  readonly differences: readonly string[];
  /** Tokens that were sent and not proven unapplied, by UTC day; null where a record does not tell its day. */
  readonly days: ReadonlyMap<string, bigint> | null;
  /** What its orders say of the running totals; null where they could not be read. */
  readonly totals: BatchTotals | null;
  /** Tokens that its orders hold of the accounts of rules. */
  readonly held: ReadonlyMap<string, bigint>;
  /** The orders, as '<no>:<index>', whose references its paid undos have freed. */
  readonly undone: readonly string[];
  /** References that are not as their orders say. A paid undo in another batch may be why. */
  readonly references: readonly MisheldReference[];
  /** How many references its orders keep spent. */
  readonly spent: number;
  /** Members that its orders hold, with the order. */
  readonly holds: ReadonlyMap<string, string>;
  readonly waits: readonly { readonly order: string; readonly member: string }[];
};

export type MisheldReference = {
  readonly order: string;
  readonly state: OrderState;
  readonly mine: boolean;
  readonly holder: { readonly no: string; readonly index: number } | null;
};
