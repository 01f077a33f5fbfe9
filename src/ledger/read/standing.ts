import { counted } from '../../core/counted.js';
import { LONGEST_PAUSE_MS } from '../../core/decide.js';
import { presenceOf } from '../../core/presence.js';
import type { BatchStanding, Group, RealmStanding } from '../../core/waiting.js';
import { BLOCK_ORDERS, batchKeys } from '../keys.js';
import { readPaceState } from '../pace/pace.js';
import type { BatchRef, RealmLedger } from '../realm-ledger.js';
import { decodeRecord, type OrderRecord } from '../record.js';
import type { BatchView } from '../views.js';
import type { StoredBatch } from './batches.js';
import { readFence } from './fence.js';
import { PlanReader } from './plan-reader.js';
import { isOverdue, sendingParts } from './refusals.js';
import { readSigns } from './signs.js';
import { attentionPage, type UnsettledState } from './unsettled.js';

/**
 * Reads how a realm and a batch stand, for core/what-waits. Counters say how many; only what was dispatched or
 * wants attention is looked at one by one, and no more of it than these, however large the batch.
 */
const LOOKED_AT_MAX = 2_000;
/** Where only the oldest time is wanted. */
const SAMPLED_MAX = 64;
/** A shorter pause is the normal course of things. */
const SOON_MS = 5_000;
/** A hold is named while it lasts, and only the shortest are not seen: progress would read as slow. */
const HOLD_SHOWN_MS = 1_000;

export type RealmLook = RealmStanding & {
  /** The realm's settle time, as far as a sender has noted it. */
  readonly settleMs: number | null;
  /** The time-outs of a request, as far as a sender has noted them. */
  readonly timeoutMs: number | null;
};

export async function readRealmStanding(ledger: RealmLedger): Promise<RealmLook> {
  const { scripts, keyPrefix, realm } = ledger;
  const [fence, { signs, nowMs }, facts, { hold }] = await Promise.all([
    readFence(ledger),
    readSigns(ledger),
    scripts.ask('read realm', (redis) =>
      redis.hmget(
        keyPrefix,
        'haltAt',
        'fenceAt',
        'breaker',
        'breakerUntil',
        'leftAt',
        'settleMs',
        'timeoutMs',
        'waitsSince',
      ),
    ),
    // The hold is the same whatever rate is configured.
    readPaceState(ledger, null),
  ]);
  const [haltAt, fenceAt, breaker, breakerUntil, leftAt, settleMs, timeoutMs, waitsSince] = facts.map(toMs);
  return {
    name: realm.name,
    nowMs,
    signs,
    leftMs: leftAt ?? 0,
    haltedMs: fenceAt ?? haltAt ?? null,
    waitsForPersonMs: waitsSince ?? null,
    recovering: !fence.armed && !fence.untouched,
    breaker: breaker == null ? null : { sinceMs: breaker, haltsAtMs: breakerUntil ?? null },
    hold: hold !== null && hold.untilMs - hold.sinceMs >= HOLD_SHOWN_MS ? hold : null,
    settleMs: settleMs ?? null,
    timeoutMs: timeoutMs ?? null,
    quiet: null,
  };
}

export async function readBatchStanding(
  ref: BatchRef,
  view: BatchView & Pick<StoredBatch, 'owner' | 'gate' | 'whyNot'>,
  realm: RealmLook,
): Promise<BatchStanding> {
  const { scripts, keyPrefix: key } = ref.ledger;
  const { manifest } = view;
  const [stoodAt, handedAt] = await scripts.ask('read batch', (redis) =>
    redis.hmget(batchKeys(key, ref.no).meta, 'stillAt', 'handedAt'),
  );
  const look = new BatchLook(ref, view, realm);
  return {
    batch: ref.id,
    whyNot: view.whyNot,
    reason: view.reason,
    owner: view.owner,
    certainty: manifest.certainty,
    inOrder: manifest.inOrder,
    createdMs: manifest.createdAt,
    startedMs: Math.max(view.startedAt ?? 0, toMs(handedAt) ?? 0),
    stoodMs: toMs(stoodAt) ?? 0,
    start: view.gate?.start ?? null,
    planned: look.all('planned'),
    unknown: { ...look.all('unknown'), ...(await look.unknown()) },
    doubt: { ...look.all('doubt'), sinceMs: await look.oldestDoubt() },
    sending: await look.sending(),
    retry: await look.retry(),
    held: await look.held(),
  };
}

/** One look at the orders of a batch. */
class BatchLook {
  private readonly plans: PlanReader;
  private readonly keys: ReturnType<typeof batchKeys>;

  constructor(
    private readonly ref: BatchRef,
    private readonly view: BatchView,
    private readonly realm: RealmLook,
  ) {
    this.plans = new PlanReader(ref.ledger);
    this.keys = batchKeys(ref.ledger.keyPrefix, ref.no);
  }

  all(state: Group['state']): Group {
    const { counts, sums } = this.view;
    return { state, orders: counts[state] ?? 0, tokens: sums[state] ?? 0n, indexes: null };
  }

  async oldestDoubt(): Promise<number> {
    const fallback = this.view.startedAt ?? this.view.manifest.createdAt;
    if (!this.has('doubt')) return fallback;
    return oldestOf(await this.records(await this.page('doubt', SAMPLED_MAX)), fallback);
  }

  async unknown(): Promise<{ sinceMs: number; untilMs: number | null }> {
    const { nowMs, settleMs } = this.realm;
    const { certainty } = this.view.manifest;
    // They may have come to their end since they were counted.
    const indexes = this.has('unknown') ? await this.page('unknown', LOOKED_AT_MAX) : [];
    if (indexes.length === 0) return { sinceMs: nowMs, untilMs: null };
    const records = await this.records(indexes);
    const times = { sinceMs: oldestOf(records, nowMs) };
    if (certainty !== 'readback') {
      const due = await this.ask((redis) => redis.zmscore(this.keys.due, indexes.map(String)));
      return { ...times, untilMs: Math.max(nowMs, ...due.map(Number)) };
    }
    const newest = Math.max(0, ...[...records.values()].map(({ sentAt }) => sentAt ?? 0));
    const settled = newest + (settleMs ?? 0);
    // Past it, the members could not be read, or somebody began to count anew: nobody can say how long.
    return { ...times, untilMs: settled > nowMs ? settled : null };
  }

  async sending(): Promise<BatchStanding['sending']> {
    if (!this.has('sending')) return [];
    const records = await this.records(await this.page('sending', LOOKED_AT_MAX));
    const bySession = new Map<string, Map<number, OrderRecord>>();
    for (const [index, record] of records) {
      if (record.session === null) continue;
      const own = bySession.get(record.session) ?? new Map<number, OrderRecord>();
      bySession.set(record.session, own.set(index, record));
    }
    const groups = [...bySession].map(async ([session, own]) => {
      const sign = this.realm.signs.find((one) => one.session === session);
      const works = sign !== undefined && presenceOf(sign, this.realm.nowMs) === 'at-work';
      const parts = works
        ? await sendingParts(this.ref, this.realm, session, own)
        : [{ own, stuck: undefined }];
      return Promise.all(
        parts.map(async ({ own: some, stuck }) => ({
          ...(await this.group('sending', [...some.keys()])),
          session,
          sinceMs: oldestOf(some, this.realm.nowMs),
          ...(stuck && { stuck }),
        })),
      );
    });
    return (await Promise.all(groups)).flat();
  }

  /** Dispatched, not unknown, and due only then. */
  async retry(): Promise<BatchStanding['retry']> {
    const { nowMs } = this.realm;
    if (!this.goesOn()) return { ...none, sinceMs: nowMs, untilMs: nowMs };
    const flat = await this.ask((redis) =>
      redis.zrangebyscore(
        this.keys.due,
        nowMs + SOON_MS,
        nowMs + LONGEST_PAUSE_MS,
        'WITHSCORES',
        'LIMIT',
        0,
        LOOKED_AT_MAX,
      ),
    );
    const due = new Map<number, number>();
    for (let i = 0; i < flat.length; i += 2) due.set(Number(flat[i]), Number(flat[i + 1]));
    const records = await this.records([...due.keys()]);
    const planned = [...records].filter(([, { code }]) => code === 'w' || code === 'p');
    return {
      ...(await this.group(
        'planned',
        planned.map(([index]) => index),
      )),
      sinceMs: oldestOf(new Map(planned), nowMs),
      untilMs: Math.max(nowMs, ...planned.map(([index]) => due.get(index) ?? 0)),
    };
  }

  /** Behind an order that moves they move as well, one after the other. */
  async held(): Promise<BatchStanding['held']> {
    const { nowMs } = this.realm;
    const nobody = { ...none, holder: '', sinceMs: nowMs, untilMs: null };
    if (!this.goesOn() || this.view.manifest.certainty !== 'readback') return nobody;
    const waiting = await this.ask((redis) => redis.hgetall(this.keys.waiting));
    const behind = new Map<string, number[]>();
    for (const [index, members] of Object.entries(waiting)) {
      const [member = ''] = members.split(' ');
      behind.set(member, [...(behind.get(member) ?? []), Number(index)]);
    }
    const still = (await Promise.all([...behind.keys()].map((member) => this.holder(member)))).flat();
    const [first] = still;
    if (first === undefined) return nobody;
    const names = new Set(still.map(({ order }) => order));
    return {
      ...(await this.group(
        'planned',
        still.flatMap(({ member }) => behind.get(member) ?? []),
      )),
      holder: `order ${first.order}${names.size > 1 ? ` (and ${counted(names.size - 1, 'other')})` : ''}`,
      sinceMs: Math.min(...still.map(({ sinceMs }) => sinceMs)),
      untilMs: still.some(({ untilMs }) => untilMs === null)
        ? null
        : Math.max(...still.map(({ untilMs }) => untilMs ?? 0)),
    };
  }

  /** The order that holds a member, where it stands still itself; it may be one of another batch. */
  private async holder(member: string) {
    const { ledger } = this.ref;
    const { nowMs, signs, settleMs } = this.realm;
    const place = await this.ask((redis) => redis.hget(`${ledger.keyPrefix}:holders`, member));
    const [no = '', index = ''] = place?.split(':') ?? [];
    if (place === null) return [];
    const record = (await this.records([Number(index)], no)).get(Number(index));
    const sender = signs.find(({ session }) => session === record?.session);
    const works = sender !== undefined && presenceOf(sender, nowMs) === 'at-work';
    const moves = record?.code === 's' && works && !isOverdue(record.sentAt ?? nowMs, this.realm);
    if (record === undefined || moves || (record.code !== 'u' && record.code !== 's')) return [];
    const id = await this.ask((redis) => redis.hget(batchKeys(ledger.keyPrefix, no).meta, 'id'));
    const sinceMs = record.sentAt ?? nowMs;
    const settled = sinceMs + (settleMs ?? 0);
    const untilMs = record.code === 'u' && settled > nowMs ? settled : null;
    return [{ member, order: `${id ?? ''}-${index}`, sinceMs, untilMs }];
  }

  private goesOn(): boolean {
    const { state } = this.view;
    return this.has('planned') && (state === 'running' || state === 'planned');
  }

  private has(state: Group['state']): boolean {
    return !this.view.archived && (this.view.counts[state] ?? 0) > 0;
  }

  private page(state: UnsettledState, most: number): Promise<number[]> {
    return attentionPage(this.ref, state, 0, most);
  }

  private async group(state: Group['state'], indexes: readonly number[]): Promise<Group> {
    const rows = await Promise.all(indexes.map((index) => this.plans.row(this.ref.no, index)));
    const tokens = rows.reduce((sum, { order }) => sum + BigInt(order?.tokens ?? 0), 0n);
    return { state, orders: indexes.length, tokens, indexes };
  }

  private async records(indexes: readonly number[], no = this.ref.no): Promise<Map<number, OrderRecord>> {
    const keys = batchKeys(this.ref.ledger.keyPrefix, no);
    const texts = await Promise.all(
      indexes.map((index) =>
        this.ask((redis) => redis.hget(keys.records(Math.floor((index - 1) / BLOCK_ORDERS)), String(index))),
      ),
    );
    return new Map(indexes.map((index, i) => [index, decodeRecord(texts[i])]));
  }

  private ask<T>(question: (redis: RealmLedger['scripts']['redis']) => Promise<T>): Promise<T> {
    const { scripts } = this.ref.ledger;
    return scripts.ask('look at what waits', question);
  }
}

const none: Group = { state: 'planned', orders: 0, tokens: 0n, indexes: [] };

function oldestOf(records: ReadonlyMap<number, OrderRecord>, fallback: number): number {
  const times = [...records.values()].flatMap(({ sentAt }) => (sentAt === null ? [] : [sentAt]));
  return times.length === 0 ? fallback : Math.min(...times);
}

function toMs(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}
