import type { Redis } from 'ioredis';
import { counted } from '../../core/counted.js';
import { BATCH_LISTS, batchKeys, unresumedKey } from '../keys.js';
import { askRealm, type BatchRef, type RealmLedger, storeNowMs } from '../realm-ledger.js';
import { paidEver } from './batch-lists.js';
import { decodeRequest } from './gate.js';
import { shown } from './verify-sums.js';

/**
 * The lists of a realm's batches (includes/batches.lua), worked out again from the batches themselves: a batch that is
 * missing in one is never fed, swept, shown or compared, and nothing else would say so.
 */
type Facts = {
  readonly ref: BatchRef;
  readonly meta: Readonly<Record<string, string>>;
  readonly counters: Readonly<Record<string, string>>;
  readonly firstDue: string | undefined;
  readonly again: readonly string[];
  readonly waitsForPerson: boolean;
};

type Scores = Map<string, string>;

/** Each says what list differs from the batches, and how. */
export async function listsText(ledger: RealmLedger, refs: readonly BatchRef[]): Promise<string[]> {
  const facts = await askRealm(ledger, 'read batches', (redis, T) =>
    Promise.all(refs.map((ref) => factsOf(redis, T, ref))),
  );
  const present = facts.filter(({ ref, meta }) => meta.id === ref.id);
  const now = await storeNowMs(ledger);
  const kept = await askRealm(ledger, 'read lists', async (redis, T) => {
    const found = await Promise.all(BATCH_LISTS.map((name) => scoresOf(redis, `${T}:${name}`)));
    return new Map(BATCH_LISTS.map((name, at) => [name, found[at] ?? new Map()]));
  });
  const list = (name: (typeof BATCH_LISTS)[number]): Scores => kept.get(name) ?? new Map();
  const lines = [
    ...PLAIN.flatMap(([name, score]) => differences(name, list(name), expected(present, score))),
    ...differences('ids', list('ids'), new Map(present.map(({ ref }) => [`${ref.id} ${ref.no}`, '0']))),
    ...membership('open', list('open'), present.filter(isOpen)),
    ...membership('changed', list('changed'), present),
    ...feedText(list('feed'), present, now),
    ...(await realmText(ledger, present)),
  ];
  return lines.map((line) => `the list ${line}`);
}

const count = ({ counters }: Facts, code: string) => Number(counters[`c:${code}`] ?? 0);
const isGoing = ({ meta }: Facts) => meta.state === 'planned' || meta.state === 'running';
const isBeforeBegin = ({ meta }: Facts) => meta.begun === undefined && meta.state !== 'done';
const isOpen = (batch: Facts) =>
  isGoing(batch) ||
  batch.meta.state === 'waiting' ||
  batch.meta.state === 'paused' ||
  batch.meta.state === 'halted' ||
  (batch.meta.state === 'cancelled' && count(batch, 's') + count(batch, 'u') > 0);
const isImport = ({ meta }: Facts) => meta.state === 'importing';

/** The lists in which a batch stands with a score that its own facts tell; undefined where it does not stand there. */
const PLAIN: readonly (readonly [(typeof BATCH_LISTS)[number], (batch: Facts) => string | undefined])[] = [
  ['asks', asksAt],
  [
    'importing',
    (batch) =>
      isImport(batch) || (batch.meta.recovered === '1' && batch.meta.importer !== undefined)
        ? batch.meta.createdAt
        : undefined,
  ],
  [
    'ended',
    (batch) =>
      !isOpen(batch) && ['done', 'cancelled'].includes(batch.meta.state ?? '')
        ? batch.meta.finishedAt
        : undefined,
  ],
  ['archived', ({ meta }) => (meta.state === 'archived' ? meta.finishedAt : undefined)],
  [
    'dead',
    (batch) =>
      !isImport(batch) && count(batch, 'R') + count(batch, 'X') > Number(batch.meta.aside ?? 0)
        ? batch.ref.no
        : undefined,
  ],
  ['aside', (batch) => (!isImport(batch) && Number(batch.meta.aside ?? 0) > 0 ? batch.ref.no : undefined)],
  ['doubts', (batch) => (count(batch, 'D') > 0 ? batch.ref.no : undefined)],
  ['sealed', ({ meta }) => meta.seal],
  ['again', ({ again }) => (again.length === 0 ? undefined : String(Math.max(...again.map(Number))))],
  ['purging', ({ ref, meta }) => (meta.state === 'archived' && meta.purged !== '1' ? ref.no : undefined)],
  ['recovered', ({ ref, meta }) => (meta.recovered === '1' ? ref.no : undefined)],
  [
    'busy',
    (batch) =>
      isOpen(batch) && batch.meta.owner === '' && ['running', 'cancelled'].includes(batch.meta.state ?? '')
        ? batch.firstDue
        : undefined,
  ],
];

async function factsOf(redis: Redis, T: string, ref: BatchRef): Promise<Facts> {
  const keys = batchKeys(T, ref.no);
  const [meta, counters, [, firstDue], again, unresumed] = await Promise.all([
    redis.hgetall(keys.meta),
    redis.hgetall(keys.counters),
    redis.zrange(keys.due, 0, '0', 'WITHSCORES'),
    redis.hvals(keys.again),
    redis.sismember(unresumedKey({ keyPrefix: T }), ref.no),
  ]);
  return { ref, meta, counters, firstDue, again, waitsForPerson: unresumed === 1 };
}

async function scoresOf(redis: Redis, key: string): Promise<Scores> {
  const flat = await redis.zrange(key, 0, '-1', 'WITHSCORES');
  const found: Scores = new Map();
  for (let at = 0; at < flat.length; at += 2) found.set(flat[at] ?? '', flat[at + 1] ?? '');
  return found;
}

function expected(batches: readonly Facts[], score: (batch: Facts) => string | undefined): Scores {
  return new Map(
    batches.flatMap((batch) => {
      const at = score(batch);
      return at === undefined ? [] : [[batch.ref.no, at] as const];
    }),
  );
}

function differences(name: string, kept: Scores, found: Scores): string[] {
  const wrong = [...new Set([...kept.keys(), ...found.keys()])].filter(
    (member) => kept.get(member) !== found.get(member),
  );
  const of = (scores: Scores) =>
    shown(new Map(wrong.map((member) => [member, scores.get(member) ?? 'not there'])));
  return wrong.length === 0 ? [] : [`${name} says ${of(kept)}, the batches say ${of(found)}`];
}

/** For lists whose scores only say when something was noted. */
function membership(name: string, kept: Scores, batches: readonly Facts[]): string[] {
  const all = (members: Iterable<string>): Scores => new Map([...members].map((no) => [no, 'there']));
  return differences(name, all(kept.keys()), all(batches.map(({ ref }) => ref.no)));
}

/** What has rows to feed is looked at soon, or at the time that it waits for. */
function feedText(kept: Scores, batches: readonly Facts[], now: number): string[] {
  const fed = batches.filter(
    (batch) =>
      isGoing(batch) &&
      batch.meta.owner === '' &&
      batch.meta.recovered !== '1' &&
      !batch.waitsForPerson &&
      Number(batch.meta.cursor ?? 1) <= Number(batch.meta.rows ?? 0),
  );
  const late = fed.filter(({ ref, meta }) => {
    const startAt = meta.startedAt === undefined ? Number(meta.startAt ?? 0) : 0;
    return Number(kept.get(ref.no) ?? 0) > Math.max(now + LOOKED_AT_WITHIN_MS, startAt);
  });
  return [
    ...membership('feed', kept, fed),
    ...late.map(({ ref }) => `feed has batch ${ref.id} looked at only at ${kept.get(ref.no)}`),
  ];
}

const LOOKED_AT_WITHIN_MS = 31_000;

/** Since when it waits for an approval, or when the one that it has ends; at the end of the list where retries have one. */
function asksAt(batch: Facts): string | undefined {
  const { meta } = batch;
  if (isImport(batch) || meta.state === 'cancelled' || meta.state === 'archived') return undefined;
  const retry = decodeRequest(meta.retry);
  if (retry !== null) return String(retry.at);
  const request = decodeRequest(meta.approval);
  if (request !== null && isBeforeBegin(batch)) return String(request.approved?.ends ?? request.at);
  return meta.retriesBy === undefined ? undefined : String(Number.MAX_SAFE_INTEGER);
}

async function realmText(ledger: RealmLedger, batches: readonly Facts[]): Promise<string[]> {
  const [[rows], ever, reports] = await Promise.all([
    askRealm(ledger, 'read realm', (redis, T) => redis.hmget(T, 'rows')),
    paidEver(ledger),
    askRealm(ledger, 'list reports', (redis, T) => redis.smembers(`${T}:reports`)),
  ]);
  const found = batches.reduce((sum, batch) => sum + (isImport(batch) ? 0 : Number(batch.meta.rows ?? 0)), 0);
  const paying = batches.filter((batch) => count(batch, 'P') > 0);
  const says = paidText(ever.batches, ever.paid, ever.tokens);
  const paid = paying.reduce((sum, batch) => sum + count(batch, 'P'), 0);
  const tokens = paying.reduce((sum, { counters }) => sum + BigInt(counters['t:P'] ?? 0), 0n);
  const say = paidText(paying.length, paid, tokens);
  const known = new Set(batches.map(({ ref }) => ref.no));
  return [
    ...(says === say ? [] : [`of what is paid has ${says}, the batches have ${say}`]),
    ...(Number(rows ?? 0) === found
      ? []
      : [`of batches has ${counted(Number(rows ?? 0), 'row')}, the batches have ${found}`]),
    ...reports
      .filter((entry) => !known.has(entry.split(':')[0] ?? ''))
      .map((entry) => `reports has no. ${entry}, and there is no such batch`),
  ];
}

function paidText(batches: number, orders: number, tokens: bigint): string {
  return `${counted(batches, 'batch', 'batches')} with ${counted(orders, 'paid order')} and ${tokens} tokens`;
}
