import { type OpSums, opSums } from '../../core/op-sums.js';
import { OPS, type Op } from '../../core/order.js';
import { TOTAL_OUTCOMES, type TotalOutcome } from '../../core/states.js';
import { OP_LETTER } from '../amount.js';
import { totalsKeys } from '../keys.js';
import { askRealm, type RealmLedger } from '../realm-ledger.js';
import { CODE_OF_STATE } from '../record.js';
import type { LatencyHistogram } from '../views.js';
import { histogram } from './snapshot.js';

/** Readers of the running totals: see includes/totals.lua. */

/** How many orders entered an outcome and left it again, and their tokens. Each number only grows. */
type Flow = {
  readonly op: Op;
  readonly outcome: TotalOutcome;
  readonly entered: number;
  readonly left: number;
  readonly tokensEntered: bigint;
  readonly tokensLeft: bigint;
};

/** `currency` is null for the realm's own. */
export type Totals = {
  readonly period: string;
  readonly currency: string | null;
  readonly flows: readonly Flow[];
};

/** Orders with one label; `label` is null for all after the twentieth of a period. */
export type Group = {
  readonly period: string;
  readonly currency: string | null;
  readonly label: string | null;
  readonly paid: number;
  /** Refused or exhausted; one that was retried and refused again counts twice. */
  readonly unpaid: number;
  /** Of the paid ones. */
  readonly tokens: OpSums;
};
export type GroupKind = 'rule' | 'reason';

export type Work = {
  readonly period: string;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  /** Requests that took a slot of the pace, and as many as were allowed meanwhile. */
  readonly granted: number;
  readonly allowed: number;
  readonly latency: LatencyHistogram;
};

/** Days as YYYY-MM-DD, both included. Months of days that are folded count where they touch the range. */
export type DayRange = { readonly from: string; readonly to: string };

export type Periods = {
  readonly sums: readonly { readonly period: string; readonly currency: string }[];
  readonly work: readonly string[];
};

/** The days and months for which anything was counted, oldest first. */
export async function listPeriods(ledger: RealmLedger, range?: DayRange): Promise<Periods> {
  const all = await askRealm(ledger, 'list totals', (redis, T) => redis.smembers(totalsKeys(T).index));
  const entries = all.sort().filter((entry) => isWithin(entry.split(':')[0] ?? '', range));
  return {
    sums: entries.flatMap((entry) => {
      const at = entry.indexOf(':');
      return at === -1 ? [] : [{ period: entry.slice(0, at), currency: entry.slice(at + 1) }];
    }),
    work: entries.filter((entry) => !entry.includes(':')),
  };
}

const MONTH = 'YYYY-MM'.length;

function isWithin(period: string, range: DayRange | undefined): boolean {
  if (period === ALL) return false;
  if (range === undefined) return true;
  const length = period.length === MONTH ? MONTH : undefined;
  return period >= range.from.slice(0, length) && period <= range.to.slice(0, length);
}

/** Stands for a period in the keys of what was counted since the beginning. */
export const ALL = 'all';

export async function readTotals(ledger: RealmLedger, range?: DayRange): Promise<Totals[]> {
  const { sums } = await listPeriods(ledger, range);
  return sumsOf(ledger, sums);
}

function sumsOf(ledger: RealmLedger, sums: Periods['sums']): Promise<Totals[]> {
  return askRealm(ledger, 'read totals', (redis, T) =>
    Promise.all(
      sums.map(async ({ period, currency }) => ({
        period,
        currency: currency === '' ? null : currency,
        flows: flowsOf(await redis.hgetall(totalsKeys(T).sum(period, currency))),
      })),
    ),
  );
}

function flowsOf(fields: Record<string, string>): Flow[] {
  return OPS.flatMap((op) =>
    TOTAL_OUTCOMES.flatMap((outcome) => {
      const name = OP_LETTER[op] + CODE_OF_STATE[outcome];
      const [entered, left] = [Number(fields[`${name}+`] ?? 0), Number(fields[`${name}-`] ?? 0)];
      const [tokensEntered, tokensLeft] = [
        BigInt(fields[`${name}+t`] ?? 0),
        BigInt(fields[`${name}-t`] ?? 0),
      ];
      return entered + left === 0 ? [] : [{ op, outcome, entered, left, tokensEntered, tokensLeft }];
    }),
  );
}

export const LABEL_LETTERS = [...'abcdefghijklmnopqrst'];
export const OTHER_LETTER = 'u';

export async function readGroups(ledger: RealmLedger, kind: GroupKind, range?: DayRange): Promise<Group[]> {
  const { sums } = await listPeriods(ledger, range);
  const found = await askRealm(ledger, `read ${kind}s`, (redis, T) =>
    Promise.all(
      sums.map(async ({ period, currency }) => {
        const fields = await redis.hgetall(totalsKeys(T).by(kind, period, currency));
        return groupsOf(fields).map((group) => ({
          ...group,
          period,
          currency: currency === '' ? null : currency,
        }));
      }),
    ),
  );
  return found.flat();
}

function groupsOf(fields: Record<string, string>): Omit<Group, 'period' | 'currency'>[] {
  return [...LABEL_LETTERS, OTHER_LETTER].flatMap((letter) => {
    const [paid, unpaid] = [Number(fields[`${letter}P`] ?? 0), Number(fields[`${letter}U`] ?? 0)];
    if (paid + unpaid === 0) return [];
    const label = letter === OTHER_LETTER ? null : (fields[letter] ?? '');
    return [{ label, paid, unpaid, tokens: opSums((op) => BigInt(fields[letter + OP_LETTER[op]] ?? 0)) }];
  });
}

export async function readWork(ledger: RealmLedger, range?: DayRange): Promise<Work[]> {
  const { work } = await listPeriods(ledger, range);
  return askRealm(ledger, 'read work', (redis, T) =>
    Promise.all(work.map(async (period) => workOf(period, await redis.hgetall(totalsKeys(T).work(period))))),
  );
}

function workOf(period: string, fields: Record<string, string>): Work {
  const number = (name: string) => Number(fields[name] ?? 0);
  const latencies = Object.entries(fields).filter(([name]) => LATENCY.test(name));
  return {
    period,
    requests: number('requests'),
    retries: number('retries'),
    rateLimited: number('limited'),
    granted: number('granted'),
    allowed: number('allowed') / 1000,
    latency: histogram(Object.fromEntries(latencies.map(([name, count]) => [name.slice(1), count]))),
  };
}

const LATENCY = /^b\d+$/;

/** Everything that was ever counted in the realm. */
export async function readRealmNumbers(ledger: RealmLedger): Promise<{ totals: Totals[]; work: Work }> {
  const entries = await askRealm(ledger, 'list totals', (redis, T) => redis.smembers(totalsKeys(T).index));
  const currencies = entries.flatMap((entry) =>
    entry.startsWith(`${ALL}:`) ? [entry.slice(ALL.length + 1)] : [],
  );
  const [totals, work] = await Promise.all([
    sumsOf(
      ledger,
      currencies.sort().map((currency) => ({ period: ALL, currency })),
    ),
    askRealm(ledger, 'read work', (redis, T) => redis.hgetall(totalsKeys(T).work(ALL))),
  ]);
  return { totals, work: workOf(ALL, work) };
}
