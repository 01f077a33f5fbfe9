import { NO_SUMS, type OpSums, opSums, plus } from '../../core/op-sums.js';
import type { Span } from '../../core/spans.js';
import { allLedgers, type BatchRecord, reading, type ScriptClient } from '../../ledger/index.js';
import { percentile } from '../../words/charts.js';
import type { Raw } from '../views/shown.js';
import type { Stats as StatsView } from '../views/totals.js';
import { type Days, daysAsked, daysBefore, monthDays, type Period, periodOf, periodsIn } from './periods.js';

/**
 * What was paid, and how the realm answered, by day, week or month, from the running totals alone: no batch is read. An
 * order is of the day on which it was sent. Where what became of it changed later, that day shows the state of now.
 */

export type Stats = Raw<StatsView, never, 'tokens'>;
export type RealmStats = Stats['realms'][number];
export type Summary = Omit<RealmStats['whole'], keyof Days>;
export type LabelSum = Summary['rules'][number];
type OutcomeSum = Summary['outcomes'][number];

type Asked = {
  readonly realm: string | null;
  readonly by: Span;
  readonly since: string | null;
  readonly until: string | null;
};

type Read = {
  readonly sums: readonly reading.Totals[];
  readonly work: readonly Awaited<ReturnType<typeof reading.totals.readWork>>[number][];
  readonly rules: readonly Awaited<ReturnType<typeof reading.totals.readGroups>>[number][];
  readonly reasons: readonly Awaited<ReturnType<typeof reading.totals.readGroups>>[number][];
};

export async function readStats(scripts: ScriptClient, asked: Asked, now: number): Promise<Stats> {
  const days = daysAsked(asked.by, asked, now);
  const ledgers = await allLedgers(scripts);
  const wanted = ledgers.filter(
    ({ realm }) => asked.realm === null || asked.realm === realm.name || asked.realm === realm.realmId,
  );
  const names = [...new Set(wanted.map(({ realm }) => realm.name))].sort();
  const realms = names.map(async (name): Promise<RealmStats> => {
    // A realm that has moved has a ledger for each address.
    const own = wanted.filter(({ realm }) => realm.name === name);
    const earlier = daysBefore(days);
    const [whole, before] = await Promise.all(
      [days, earlier].map(async (range) =>
        together(await Promise.all(own.map((one) => readAll(one, range)))),
      ),
    );
    return {
      realm: name,
      rehearsal: own.every(({ realm }) => realm.rehearsal),
      periods: byPeriod(asked.by, days, whole ?? NOTHING),
      whole: { ...days, ...summary(whole ?? NOTHING) },
      before: { ...earlier, ...summary(before ?? NOTHING) },
    };
  });
  return { by: asked.by, ...days, realms: await Promise.all(realms) };
}

async function readAll(ledger: Parameters<typeof reading.totals.readWork>[0], range: Days): Promise<Read> {
  const [sums, work, rules, reasons] = await Promise.all([
    reading.totals.readTotals(ledger, range),
    reading.totals.readWork(ledger, range),
    reading.totals.readGroups(ledger, 'rule', range),
    reading.totals.readGroups(ledger, 'reason', range),
  ]);
  return { sums, work, rules, reasons };
}

function together(all: readonly Read[]): Read {
  return {
    sums: all.flatMap(({ sums }) => sums),
    work: all.flatMap(({ work }) => work),
    rules: all.flatMap(({ rules }) => rules),
    reasons: all.flatMap(({ reasons }) => reasons),
  };
}

function byPeriod(by: Span, days: Days, read: Read): (Period & Summary)[] {
  const listed = periodsIn(by, days);
  const known = new Set(listed.map(({ period }) => period));
  const counted = [...read.sums, ...read.work].map(({ period }) => periodOf(by, period));
  const folded = [...new Set(counted)].filter((period) => !known.has(period));
  const all = [...folded.map((period) => ({ period, ...monthDays(period) })), ...listed];
  return all
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0))
    .map((one) => {
      const isOf = ({ period }: { readonly period: string }) => periodOf(by, period) === one.period;
      return {
        ...one,
        ...summary({
          sums: read.sums.filter(isOf),
          work: read.work.filter(isOf),
          rules: read.rules.filter(isOf),
          reasons: read.reasons.filter(isOf),
        }),
      };
    });
}

const NOTHING: Read = { sums: [], work: [], rules: [], reasons: [] };

function summary({ sums, work, rules, reasons }: Read): Summary {
  const outcomes = outcomesOf(sums);
  const ended = outcomes.filter(({ outcome }) => outcome !== 'unknown');
  const orders = (some: readonly OutcomeSum[]) => some.reduce((all, one) => all + one.orders, 0);
  const sum = (of: (one: Awaited<ReturnType<typeof reading.totals.readWork>>[number]) => number) =>
    work.reduce((all, one) => all + of(one), 0);
  const latency = merged(work.map((one) => one.latency));
  const allowed = sum((one) => one.allowed);
  return {
    outcomes,
    success:
      orders(ended) <= 0 ? null : orders(ended.filter(({ outcome }) => outcome === 'paid')) / orders(ended),
    requests: sum((one) => one.requests),
    retries: sum((one) => one.retries),
    rateLimited: sum((one) => one.rateLimited),
    p50Ms: percentile(latency, 0.5),
    p95Ms: percentile(latency, 0.95),
    share: allowed <= 0 ? null : Math.min(1, sum((one) => one.granted) / allowed),
    rules: labelsOf(rules),
    reasons: labelsOf(reasons),
  };
}

function outcomesOf(sums: readonly reading.Totals[]): OutcomeSum[] {
  const found = new Map<string, OutcomeSum>();
  for (const { currency, flows } of sums)
    for (const { op, outcome, entered, left, tokensEntered, tokensLeft } of flows) {
      const key = JSON.stringify([currency, op, outcome]);
      const known = found.get(key);
      found.set(key, {
        currency,
        op,
        outcome,
        orders: (known?.orders ?? 0) + entered - left,
        tokens: (known?.tokens ?? 0n) + tokensEntered - tokensLeft,
      });
    }
  return [...found.values()].filter(({ orders, tokens }) => orders !== 0 || tokens !== 0n);
}

/** The one with the most paid orders first; those that have no name of their own last. */
function labelsOf(
  groups: readonly Awaited<ReturnType<typeof reading.totals.readGroups>>[number][],
): LabelSum[] {
  const found = new Map<string, LabelSum>();
  for (const { currency, label, paid, unpaid, tokens } of groups) {
    const key = JSON.stringify([currency, label]);
    const known = found.get(key);
    found.set(key, {
      currency,
      label,
      paid: (known?.paid ?? 0) + paid,
      unpaid: (known?.unpaid ?? 0) + unpaid,
      tokens: plus(known?.tokens ?? NO_SUMS, tokens),
    });
  }
  return [...found.values()].sort(
    (a, b) => Number(a.label === null) - Number(b.label === null) || b.paid - a.paid || b.unpaid - a.unpaid,
  );
}

function merged(all: readonly BatchRecord['latency'][]): BatchRecord['latency'] {
  const counts = new Map<number, number>();
  for (const { upToMs, count } of all.flat()) counts.set(upToMs, (counts.get(upToMs) ?? 0) + count);
  return [...counts].map(([upToMs, count]) => ({ upToMs, count })).sort((a, b) => a.upToMs - b.upToMs);
}

/** What was paid of these, by currency. */
export function paidOf(outcomes: readonly OutcomeSum[]): Map<string | null, OpSums> {
  const found = new Map<string | null, OpSums>();
  for (const { currency, op, outcome, tokens } of outcomes)
    if (outcome === 'paid')
      found.set(
        currency,
        plus(
          found.get(currency) ?? NO_SUMS,
          opSums((one) => (one === op ? tokens : 0n)),
        ),
      );
  return found;
}
