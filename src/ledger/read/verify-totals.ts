import { OP_LETTER } from '../amount.js';
import { totalsKeys } from '../keys.js';
import type { PlannedOrder } from '../plan-block.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import type { OrderRecord } from '../record.js';
import { ALL, LABEL_LETTERS, OTHER_LETTER } from './totals.js';
import { keysLike } from './verify-read.js';
import { add, utcDay } from './verify-sums.js';

/** What the orders of one batch say of the running totals (includes/totals.lua). */
export class BatchTotals {
  /** '<op><outcome>', with a 't' behind for tokens, and the currency. */
  readonly flows = new Map<string, bigint>();
  /** '<day> <op>P' and so on: paid orders leave their day no more. Null where a record does not tell it. */
  paid: Map<string, bigint> | null = new Map();
  /** Fields of T:work. */
  readonly work = new Map<string, bigint>();

  constructor(private readonly currency: string) {}

  addOrder({ order }: PlannedOrder, { code, sentAt }: OrderRecord): void {
    if (!'PRXuD'.includes(code)) return;
    const field = OP_LETTER[order.op] + code;
    add(this.flows, named(field, this.currency), 1);
    add(this.flows, named(`${field}t`, this.currency), order.tokens);
    if (code !== 'P') return;
    if (sentAt === null) this.paid = null;
    if (sentAt === null || this.paid === null) return;
    add(this.paid, named(utcDay(sentAt), field, this.currency), 1);
    add(this.paid, named(utcDay(sentAt), `${field}t`, this.currency), order.tokens);
  }

  addWork(meta: Readonly<Record<string, string>>, latency: Readonly<Record<string, string>>): void {
    for (const field of ['requests', 'retries', 'limited']) add(this.work, field, BigInt(meta[field] ?? 0));
    for (const [bucket, count] of Object.entries(latency)) add(this.work, `b${bucket}`, BigInt(count));
  }
}

/** The realm's own currency has no name. */
function named(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(' ');
}

type Sums = Map<string, bigint>;

/** `batches` is null where one of them could not be read: then only what the totals say of each other is compared. */
export async function totalsText(
  ledger: RealmLedger,
  batches: readonly BatchTotals[] | null,
): Promise<string[]> {
  const { keyPrefix: T } = ledger;
  const say: string[] = [];
  const stored = await askRealm(ledger, 'read totals', async (redis) => {
    const kinds = ['sum', 'by', 'work'];
    const keys = (await Promise.all(kinds.map((kind) => keysLike(redis, `${T}:${kind}:*`)))).flat().sort();
    const hashes = await Promise.all(keys.map((key) => redis.hgetall(key)));
    return new Map(keys.map((key, at) => [key, hashes[at] ?? {}]));
  });
  const index = await askRealm(ledger, 'list totals', (redis) => redis.smembers(totalsKeys(T).index));
  say.push(...unlistedText(T, [...stored.keys()], index));

  const sums = new Map<string, Sums>();
  const work = new Map<string, Sums>();
  for (const entry of index) {
    const [period = '', ...rest] = entry.split(':');
    const at = rest.length === 0 ? totalsKeys(T).work(period) : totalsKeys(T).sum(period, rest.join(':'));
    const read = rest.length === 0 ? work : sums;
    const pattern = rest.length === 0 ? WORK_FIELD : SUM_FIELD;
    read.set(
      entry,
      numbersOf(stored.get(at) ?? {}, pattern, (what) => say.push(`totals of ${entry}: ${what}`)),
    );
  }
  for (const currency of new Set([...sums.keys()].map(currencyOf)))
    say.push(
      ...overAllText(
        sums,
        (entry) => currencyOf(entry) === currency,
        `${ALL}:${currency}`,
        () => true,
      ),
    );
  say.push(
    ...overAllText(
      work,
      () => true,
      ALL,
      (field) => field !== 'granted' && field !== 'allowed',
    ),
  );
  for (const [entry, found] of sums) {
    const [period = ''] = entry.split(':');
    if (period === ALL) continue;
    for (const kind of ['rule', 'reason'])
      say.push(
        ...groupsText(
          `${kind}s of ${entry}`,
          stored.get(totalsKeys(T).by(kind, period, currencyOf(entry))) ?? {},
          found,
        ),
      );
  }
  return batches === null ? say : [...say, ...batchesText(sums, work, batches)];
}

const SUM_FIELD = /^[cdt][PRXuD][+-]t?$/;
const WORK_FIELD = /^(requests|retries|limited|granted|allowed|b.*)$/;

function currencyOf(entry: string): string {
  return entry.slice(entry.indexOf(':') + 1);
}

function unlistedText(T: string, keys: readonly string[], index: readonly string[]): string[] {
  const listed = new Set(index);
  const there = new Set(keys.map((key) => key.slice(T.length + 1)));
  const entryOf = (key: string) => key.replace(/^(sum|work|by:rule|by:reason):/, '');
  return [
    ...[...there]
      .filter((key) => !listed.has(entryOf(key)))
      .map((key) => `totals ${key} are in the store and in no list`),
    ...index
      .filter((entry) => !there.has(`${entry.includes(':') ? 'sum' : 'work'}:${entry}`))
      .map((entry) => `totals of ${entry} are listed and not there`),
  ];
}

function numbersOf(fields: Record<string, string>, known: RegExp, say: (what: string) => void): Sums {
  const sums: Sums = new Map();
  for (const [field, text] of Object.entries(fields)) {
    if (!known.test(field)) say(`no field is called ${field}`);
    else if (!/^\d+$/.test(text)) say(`${field} is ${text}`);
    else add(sums, field, BigInt(text));
  }
  return sums;
}

/** What was counted since the beginning is the sum of all days and months. */
function overAllText(
  read: ReadonlyMap<string, Sums>,
  isOf: (entry: string) => boolean,
  all: string,
  counts: (field: string) => boolean,
): string[] {
  const found: Sums = new Map();
  for (const [entry, sums] of read)
    if (entry !== all && isOf(entry))
      for (const [field, sum] of sums) if (counts(field)) add(found, field, sum);
  return unequal(read.get(all) ?? new Map(), found).map(
    ([field, kept, sum]) => `totals of ${all}: ${field} is ${kept}, the periods say ${sum}`,
  );
}

/** Paid orders and tokens, and unpaid orders, by label; together they are the sums of their period. */
function groupsText(what: string, fields: Record<string, string>, sums: Sums): string[] {
  const say: string[] = [];
  const found: Sums = new Map();
  const letters = new Set([...LABEL_LETTERS, OTHER_LETTER]);
  const names = Object.keys(fields).filter((field) => LABEL_LETTERS.includes(field));
  for (const [field, text] of Object.entries(fields)) {
    const [letter = '', kind = ''] = [field.slice(0, 1), field.slice(1)];
    if (names.includes(field)) continue;
    const isKnown =
      letters.has(letter) && /^[PUcdt]$/.test(kind) && (letter === OTHER_LETTER || letter in fields);
    if (!isKnown) say.push(`${what}: no field is called ${field}`);
    else if (!/^\d+$/.test(text)) say.push(`${what}: ${field} is ${text}`);
    else add(found, kind, BigInt(text));
  }
  for (const name of names)
    if (!(`${name}P` in fields) && !(`${name}U` in fields)) say.push(`${what}: label ${name} has no order`);
  const wanted: Sums = new Map();
  for (const op of ['c', 'd', 't']) {
    add(wanted, 'P', sums.get(`${op}P+`) ?? 0n);
    add(wanted, 'U', (sums.get(`${op}R+`) ?? 0n) + (sums.get(`${op}X+`) ?? 0n));
    add(wanted, op, sums.get(`${op}P+t`) ?? 0n);
  }
  return [
    ...say,
    ...unequal(found, wanted).map(
      ([kind, sum, total]) => `${what}: ${kind} adds up to ${sum}, the totals say ${total}`,
    ),
  ];
}

function batchesText(
  sums: ReadonlyMap<string, Sums>,
  work: ReadonlyMap<string, Sums>,
  batches: readonly BatchTotals[],
): string[] {
  const net: Sums = new Map();
  const paid: Sums = new Map();
  for (const [entry, fields] of sums) {
    const [period = '', currency] = [entry.split(':')[0], currencyOf(entry)];
    for (const [field, sum] of fields) {
      const sign = field.includes('-') ? -1n : 1n;
      if (period === ALL) add(net, named(field.replace(/[+-]/, ''), currency), sign * sum);
      else if (field[1] === 'P' && sign > 0) add(paid, named(period, field.replace('+', ''), currency), sum);
    }
  }
  const orders = together(batches.map(({ flows }) => flows));
  const done = together(batches.map((batch) => batch.work));
  const kept = new Map(
    [...(work.get(ALL) ?? [])].filter(([field]) => field !== 'granted' && field !== 'allowed'),
  );
  const isTold = batches.every((batch) => batch.paid !== null);
  const toPeriod = periodsOf(paid);
  const days = isTold ? together(batches.map((batch) => toPeriod(batch.paid ?? new Map()))) : null;
  return [
    ...unequal(net, orders).map(([what, sum, found]) => `totals: ${sum} are in ${what}, orders say ${found}`),
    ...(days === null ? [] : unequal(toPeriod(paid), days)).map(
      ([what, sum, found]) => `totals of ${what}: ${sum} entered, orders say ${found}`,
    ),
    ...unequal(kept, done).map(([field, sum, found]) => `totals: ${field} is ${sum}, batches say ${found}`),
  ];
}

/** Turns days into the months that hold what was folded: an answer may have come for such a day since. */
function periodsOf(kept: Sums): (days: ReadonlyMap<string, bigint>) => Sums {
  const periods = [...kept.keys()].map((name) => name.split(' ')[0] ?? '');
  const months = new Set(periods.filter((period) => period.length === MONTH_LENGTH));
  return (days) => {
    const found: Sums = new Map();
    for (const [name, sum] of days) {
      const month = name.slice(0, MONTH_LENGTH);
      const rest = name.slice(name.indexOf(' '));
      add(found, months.has(month) ? month + rest : name, sum);
    }
    return found;
  };
}

const MONTH_LENGTH = 'YYYY-MM'.length;

function together(all: readonly ReadonlyMap<string, bigint>[]): Sums {
  const sums: Sums = new Map();
  for (const one of all) for (const [name, sum] of one) add(sums, name, sum);
  return sums;
}

function unequal(a: ReadonlyMap<string, bigint>, b: ReadonlyMap<string, bigint>): [string, bigint, bigint][] {
  const names = [...new Set([...a.keys(), ...b.keys()])].sort();
  return names.flatMap((name): [string, bigint, bigint][] => {
    const [one, other] = [a.get(name) ?? 0n, b.get(name) ?? 0n];
    return one === other ? [] : [[name, one, other]];
  });
}
