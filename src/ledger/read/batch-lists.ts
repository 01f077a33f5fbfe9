import type { Redis } from 'ioredis';
import { AlmonerError } from '../../core/errors/error.js';
import { batchId } from '../../core/ids.js';
import { batchKeys } from '../keys.js';
import { allLedgers, askRealm, type BatchRef, type RealmLedger, timeOn } from '../realm-ledger.js';
import type { ScriptClient } from '../script-client.js';

/**
 * The lists of batches (includes/batches.lua), for those who need some of them. Lists of what is open, or waits for a
 * person, are short and read as a whole; everything that ever was is read page by page.
 */
type BatchList =
  | 'open'
  | 'importing'
  | 'dead'
  | 'aside'
  | 'doubts'
  | 'asks'
  | 'recovered'
  | 'archived'
  | 'purging'
  | 'ended'
  | 'sealed'
  | 'again';

/** The batches of a list whose scores are at least `from`, and at most `to`, by their numbers. */
export async function batchesIn(
  ledger: RealmLedger,
  list: BatchList,
  { from = '-inf', to = '+inf' }: { readonly from?: number | '-inf'; readonly to?: number | '+inf' } = {},
): Promise<BatchRef[]> {
  return askRealm(ledger, 'list batches', async (redis, T) => {
    // Some need an approval only when what covers them has run out.
    const until = list === 'asks' ? await timeOn(redis) : to;
    return refsOf(ledger, redis, await redis.zrangebyscore(`${T}:${list}`, from, until));
  });
}

/** The same of several lists and over all realms of the store, or of one, by its name or id. */
export async function everyBatchIn(
  scripts: ScriptClient,
  lists: readonly BatchList[],
  realm?: string,
): Promise<BatchRef[]> {
  const found = await Promise.all(
    (await ledgersNamed(scripts, realm)).map(async (ledger) => {
      const refs = (await Promise.all(lists.map((list) => batchesIn(ledger, list)))).flat();
      return [...new Map(refs.map((ref) => [ref.no, ref])).values()].sort(byNumber);
    }),
  );
  return found.flat();
}

const byNumber = (one: BatchRef, other: BatchRef) => Number(one.no) - Number(other.no);

/**
 * Batches that ended before that moment, the oldest first and some thousand of them, and those whose rows have not all left
 * the store. One with a doubt stays until a person has decided.
 */
export async function batchesToArchive(scripts: ScriptClient, endedBefore: number): Promise<BatchRef[]> {
  const found = await Promise.all(
    (await allLedgers(scripts)).map((ledger) =>
      askRealm(ledger, 'list batches', async (redis, T) => {
        const [ended, purging, doubts] = await Promise.all([
          redis.zrangebyscore(`${T}:ended`, '-inf', endedBefore, 'LIMIT', 0, TO_ARCHIVE),
          redis.zrange(`${T}:purging`, 0, '-1'),
          redis.zrange(`${T}:doubts`, 0, '-1'),
        ]);
        const waits = new Set(doubts);
        return refsOf(ledger, redis, [...purging, ...ended.filter((no) => !waits.has(no))]);
      }),
    ),
  );
  return found.flat();
}

const TO_ARCHIVE = 5_000;

async function refsOf(ledger: RealmLedger, redis: Redis, numbers: readonly string[]): Promise<BatchRef[]> {
  const ids = await Promise.all(numbers.map((no) => redis.hget(batchKeys(ledger.keyPrefix, no).meta, 'id')));
  const refs = numbers.flatMap((no, at) => {
    const id = ids[at];
    return id == null ? [] : [{ ledger, no, id: batchId(id) }];
  });
  return refs.sort(byNumber);
}

export async function ledgersNamed(scripts: ScriptClient, realm?: string): Promise<RealmLedger[]> {
  return (await allLedgers(scripts)).filter(
    ({ realm: of }) => realm === undefined || of.name === realm || of.realmId === realm,
  );
}

/** All batches whose ids begin like this, at most so many, and how many there are. */
export async function batchesLike(ledger: RealmLedger, prefix: string, most: number) {
  const [from, to] = [`[${prefix}`, `(${prefix}\u{ff}`];
  const [members, count] = await askRealm(ledger, 'find batches', (redis, T) =>
    Promise.all([
      redis.zrangebylex(`${T}:ids`, from, to, 'LIMIT', 0, most),
      redis.zlexcount(`${T}:ids`, from, to),
    ]),
  );
  const refs: BatchRef[] = members.map((member) => {
    const [id = '', no = ''] = member.split(' ');
    return { ledger, no, id: batchId(id) };
  });
  return { refs, count };
}

/** The batches that ended last, at most so many; and all that ended since that moment. */
export async function lastEnded(ledger: RealmLedger, most: number, since: number): Promise<BatchRef[]> {
  return askRealm(ledger, 'list ended', async (redis, T) => {
    const found = await Promise.all(
      [`${T}:ended`, `${T}:archived`].flatMap((list) => [
        redis.zrange(list, '+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, most),
        redis.zrangebyscore(list, since, '+inf'),
      ]),
    );
    return refsOf(ledger, redis, [...new Set(found.flat())]);
  });
}

/** How many batches are over, and how many of them are archived. */
export async function countEnded(ledger: RealmLedger): Promise<{ ended: number; archived: number }> {
  const [ended, archived] = await askRealm(ledger, 'count ended', (redis, T) =>
    Promise.all([redis.zcard(`${T}:ended`), redis.zcard(`${T}:archived`)]),
  );
  return { ended, archived };
}

/** How many batches the realm has ever had, imports that are not sealed included, and how many rows. */
export async function countBatches(ledger: RealmLedger): Promise<{ batches: number; rows: number }> {
  return askRealm(ledger, 'count batches', async (redis, T) => {
    const [batches, rows] = await Promise.all([redis.zcard(`${T}:ids`), redis.hget(T, 'rows')]);
    return { batches, rows: Number(rows ?? 0) };
  });
}

/** What of the realm is paid: read from sums that move with the batches. */
export async function paidEver(ledger: RealmLedger) {
  const [paid, tokens, batches, lastAt] = await askRealm(ledger, 'read what is paid', (redis, T) =>
    redis.hmget(T, 'paid', 'paidTokens', 'paidBatches', 'lastPaidAt'),
  );
  return {
    paid: Number(paid ?? 0),
    tokens: BigInt(tokens ?? 0),
    batches: Number(batches ?? 0),
    /** When the last of these batches began. */
    lastAt: lastAt == null ? null : Number(lastAt),
  };
}

/** The batches that changed after this number of the realm's changes, and the number that they bring it to. */
export async function changedSince(
  ledger: RealmLedger,
  since: number,
): Promise<{ readonly changes: number; readonly numbers: readonly string[] }> {
  const [changes, numbers] = await askRealm(ledger, 'list changes', (redis, T) =>
    // First the counter: what changes in between is told twice rather than never.
    Promise.all([redis.hget(T, 'changes'), redis.zrangebyscore(`${T}:changed`, `(${since}`, '+inf')]),
  );
  return { changes: Number(changes ?? 0), numbers };
}

/** A batch with the store's time at which it was listed; of one realm the later number has the later time. */
type ListedBatch = BatchRef & { readonly madeAt: number };

const PAGE = 100;

/** Every batch of a realm, or of a list, newest first and page by page; only those with a number up to `from`. */
export async function* newestFirst(
  ledger: RealmLedger,
  from = Number.POSITIVE_INFINITY,
  list: BatchList | null = null,
): AsyncGenerator<ListedBatch> {
  if (list !== null) {
    const numbers = (await batchesIn(ledger, list)).map(({ no }) => Number(no)).reverse();
    const wanted = numbers.filter((no) => no <= from);
    for (let at = 0; at < wanted.length; at += PAGE) yield* await listed(ledger, wanted.slice(at, at + PAGE));
    return;
  }
  for (let top = Math.min(from, await lastNumber(ledger)); top > 0; top -= PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, top) }, (_, at) => top - at);
    yield* await listed(ledger, numbers);
  }
}

async function lastNumber(ledger: RealmLedger): Promise<number> {
  return Number((await askRealm(ledger, 'read realm', (redis, T) => redis.hget(T, 'batches'))) ?? 0);
}

async function listed(ledger: RealmLedger, numbers: readonly number[]): Promise<ListedBatch[]> {
  const found = await askRealm(ledger, 'list batches', (redis, T) =>
    Promise.all(numbers.map((no) => redis.hmget(batchKeys(T, String(no)).meta, 'id', 'madeAt'))),
  );
  return numbers.flatMap((no, at) => {
    const [id, madeAt] = found[at] ?? [];
    return id == null ? [] : [{ ledger, no: String(no), id: batchId(id), madeAt: Number(madeAt ?? 0) }];
  });
}

/** Where a list of all batches goes on: the last batch that was told. */
export function placeOf({ ledger, no }: BatchRef): string {
  return `${ledger.id}.${no}`;
}

/**
 * Every batch of all realms, or of one, newest first, after a place that was told before. Each realm is read page by page
 * as far as it is asked for.
 */
export async function* batchesOfAll(
  scripts: ScriptClient,
  { realm, after, from = after, list = null }: AllBatches = {},
): AsyncGenerator<ListedBatch> {
  const ledgers = (await ledgersNamed(scripts, realm)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const place = from === undefined ? null : await placeIn(ledgers, from);
  const streams = await Promise.all(
    ledgers.map(async (ledger) =>
      newestFirst(
        ledger,
        place === null ? undefined : await numberAt(ledger, place, after === undefined),
        list,
      ),
    ),
  );
  const heads = await Promise.all(streams.map(async (stream) => (await stream.next()).value));
  for (;;) {
    let first = -1;
    for (const [at, head] of heads.entries())
      if (head && (first < 0 || head.madeAt > (heads[first]?.madeAt ?? 0))) first = at;
    const head = heads[first];
    if (!head) return;
    yield head;
    heads[first] = (await streams[first]?.next())?.value;
  }
}

/** It goes on after a place, or from it on, with its batch. */
type AllBatches = {
  readonly realm?: string | undefined;
  readonly after?: string | undefined;
  readonly from?: string | undefined;
  /** Only those of this list. */
  readonly list?: BatchList | null;
};

async function placeIn(ledgers: readonly RealmLedger[], text: string): Promise<ListedBatch> {
  const [id, no] = text.split('.');
  const ledger = ledgers.find((one) => one.id === id);
  const [place] = ledger === undefined ? [] : await listed(ledger, [Number(no)]);
  if (place !== undefined) return place;
  throw new AlmonerError(
    'ALM_DESK_BAD_REQUEST',
    'The cursor names a batch that is not there any more. Nothing was done.',
    { next: 'Begin again, without a cursor.' },
  );
}

/** The highest number of the realm that comes after the place, newest first; of two made at once the lower ledger id comes first. */
async function numberAt(ledger: RealmLedger, place: ListedBatch, included: boolean): Promise<number> {
  if (ledger.id === place.ledger.id) return Number(place.no) - (included ? 0 : 1);
  const isAfter = ({ madeAt }: ListedBatch) =>
    madeAt < place.madeAt || (madeAt === place.madeAt && ledger.id > place.ledger.id);
  let low = 0;
  let high = await lastNumber(ledger);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    // Numbers of imports that were given up are missing: the next lower one tells.
    const { value } = await newestFirst(ledger, middle).next();
    if (!value || isAfter(value)) low = middle;
    else high = Number(value.no) - 1;
  }
  return low;
}
