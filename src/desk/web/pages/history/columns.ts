import { OPS, type Op } from '../../../../core/order.js';
import type { TotalOutcome } from '../../../../core/states.js';
import type { Columns } from '../../../../words/charts.js';
import { counted, duration, grouped, percent } from '../../../../words/spelling.js';
import type { StatsReply } from '../../../api/index.js';

/** The series of the history charts, and the same numbers as tables. */

type Realm = StatsReply['realms'][number];
type Period = Realm['periods'][number];

export const MEASURES = ['orders', 'credit', 'debit', 'transfer'] as const;
export type Measure = (typeof MEASURES)[number];
export const MEASURE_WORDS: Readonly<Record<Measure, string>> = {
  orders: 'orders',
  credit: 'tokens given',
  debit: 'tokens taken',
  transfer: 'tokens moved',
};

/** The chosen view: orders of all currencies, or tokens of one. An empty `currency` is the realm's own. */
export type View = { readonly measure: Measure; readonly currency: string; readonly by: 'outcome' | 'rule' };

export type Series = {
  readonly css: string;
  readonly words: string;
  readonly values: readonly bigint[];
};

/** The number of rules that get a colour of their own. */
const RULES_MAX = 5;
const OUTCOMES_SHOWN: readonly TotalOutcome[] = ['paid', 'doubt', 'unknown', 'refused', 'exhausted'];

const FILES = 'files';
export const OTHERS = 'others';
export const NO_REASON = '(none)';

export function ruleWords(label: string | null): string {
  if (label === null) return OTHERS;
  return label === '(file)' ? FILES : label;
}

/** One value for each period. A series without a value above zero is left out. */
export function seriesOf({ periods, whole }: Realm, view: View): Series[] {
  const all = view.by === 'outcome' ? outcomeSeries(periods, view) : ruleSeries(periods, whole, view);
  const found = all.filter(({ values }) => values.some((value) => value !== 0n));
  return found.length === 0 ? all.slice(0, 1) : found;
}

function outcomeSeries(periods: readonly Period[], { measure, currency }: View): Series[] {
  return OUTCOMES_SHOWN.map((outcome) => ({
    css: outcome,
    words: outcome,
    values: periods.map(({ outcomes }) =>
      outcomes
        .filter((one) => one.outcome === outcome)
        .reduce((sum, one) => {
          if (measure === 'orders') return sum + BigInt(one.orders);
          return one.op === measure && isOf(one, currency) ? sum + BigInt(one.tokens) : sum;
        }, 0n),
    ),
  }));
}

function ruleSeries(periods: readonly Period[], whole: Realm['whole'], view: View): Series[] {
  const amount = (rules: Period['rules'], isWanted: (label: string | null) => boolean) =>
    rules
      .filter(({ label }) => isWanted(label))
      .reduce((sum, one) => {
        if (view.measure === 'orders') return sum + BigInt(one.paid);
        return isOf(one, view.currency) ? sum + BigInt(one.tokens[view.measure]) : sum;
      }, 0n);
  const labels = [...new Set(whole.rules.flatMap(({ label }) => label ?? []))].slice(0, RULES_MAX);
  const own = labels.map((label, at) => ({
    css: `r${at}`,
    words: ruleWords(label),
    values: periods.map(({ rules }) => amount(rules, (one) => one === label)),
  }));
  const rest = periods.map(({ rules }) => amount(rules, (one) => one === null || !labels.includes(one)));
  return [...own, { css: 'rest', words: OTHERS, values: rest }];
}

function isOf({ currency }: { readonly currency: string | null }, wanted: string): boolean {
  return (currency ?? '') === wanted;
}

/** All currencies that were sent in. */
export function currenciesOf({ whole }: Realm): string[] {
  return [...new Set(whole.outcomes.map(({ currency }) => currency ?? ''))].sort();
}

/** The ops that were paid. */
export function opsOf({ whole }: Realm): Op[] {
  return OPS.filter((op) => whole.outcomes.some((one) => one.op === op));
}

function frame(periods: readonly Period[]): Pick<Columns, 'from' | 'to'> {
  return { from: periods[0]?.period ?? '', to: periods.at(-1)?.period ?? '' };
}

/** Orders or tokens per period, one stacked column each. */
export function stackedColumns(realm: Realm, series: readonly Series[], what: string, span: string): Columns {
  const { periods } = realm;
  const sums = series.map(
    ({ words, values }) => `${grouped(values.reduce((sum, value) => sum + value, 0n))} ${words}`,
  );
  return {
    ...frame(periods),
    units: { y: `${what} per ${span}`, x: 'UTC' },
    label: `${what} per ${span} of realm ${realm.realm}: ${sums.join(', ')}.`,
    columns: periods.map(({ period }, at) => ({
      key: at,
      title: `${period}: ${series.map(({ words, values }) => `${grouped(values[at] ?? 0n)} ${words}`).join(', ')}`,
      // An order that leaves an outcome on a later day makes the value of that day negative. Such a value has no
      // column.
      parts: series.map(({ css, values }) => ({
        css: `f-${css}`,
        value: Math.max(0, Number(values[at] ?? 0n)),
      })),
    })),
  };
}

export function requestColumns({ realm, periods, whole }: Realm, span: string): Columns {
  return {
    ...frame(periods),
    units: { y: `requests per ${span}`, x: 'UTC' },
    label: `Requests per ${span} of realm ${realm}: ${grouped(whole.requests)}, ${grouped(whole.rateLimited)} of them told to slow down.`,
    columns: periods.map(({ period, requests, rateLimited }, at) => ({
      key: at,
      title: `${period}: ${counted(requests, 'request')}, ${grouped(rateLimited)} told to slow down`,
      parts: [
        { css: 'f-requests', value: Math.max(0, requests - rateLimited) },
        { css: 'f-limited', value: rateLimited },
      ],
    })),
  };
}

/** The median and the 95th percentile of the realm's replies per period. */
export function latencyColumns({ realm, periods, whole }: Realm): Columns {
  return {
    ...frame(periods),
    units: { y: 'seconds', x: 'UTC' },
    label: `Time to the answer of realm ${realm}: half within ${timeWords(whole.p50Ms)}, 95 % within ${timeWords(whole.p95Ms)}.`,
    columns: periods.map(({ period, p50Ms, p95Ms }, at) => ({
      key: at,
      title: `${period}: half within ${timeWords(p50Ms)}, 95 % within ${timeWords(p95Ms)}`,
      parts: [
        { css: 'f-requests', value: (p50Ms ?? 0) / 1_000 },
        { css: 'f-bucket', value: Math.max(0, (p95Ms ?? 0) - (p50Ms ?? 0)) / 1_000 },
      ],
    })),
  };
}

/** The share of the allowed rate that was used per period. */
export function rateColumns({ realm, periods, whole }: Realm): Columns {
  return {
    ...frame(periods),
    units: { y: '% of the allowed rate', x: 'UTC' },
    limit: 100,
    label: `Share of the allowed rate used in realm ${realm}: ${shareWords(whole.share)}.`,
    columns: periods.map(({ period, share }, at) => ({
      key: at,
      title: `${period}: ${shareWords(share)}`,
      parts: [{ css: 'f-requests', value: (share ?? 0) * 100 }],
    })),
  };
}

/** The share of paid orders among the ended ones. */
export function successColumns({ realm, periods, whole }: Realm): Columns {
  return {
    ...frame(periods),
    units: { y: '% of the orders that ended', x: 'UTC' },
    label: `Paid among the orders of realm ${realm} that ended: ${shareWords(whole.success)}.`,
    columns: periods.map(({ period, success }, at) => ({
      key: at,
      title: `${period}: ${shareWords(success)}`,
      parts: [
        { css: 'f-paid', value: (success ?? 0) * 100 },
        { css: 'f-refused', value: success === null ? 0 : (1 - success) * 100 },
      ],
    })),
  };
}

export function timeWords(ms: number | null): string {
  return ms === null ? 'no answer' : duration(ms);
}

export function shareWords(share: number | null): string {
  return share === null ? 'not known' : percent(share, 1);
}

export function ordersIn({ outcomes }: Realm['whole'], ...wanted: readonly string[]): number {
  return outcomes.reduce((sum, one) => (wanted.includes(one.outcome) ? sum + one.orders : sum), 0);
}

/** The tokens paid by one op in one currency. */
export function paidTokens({ outcomes }: Realm['whole'], op: Op, currency: string): bigint {
  return outcomes.reduce(
    (sum, one) =>
      one.outcome === 'paid' && one.op === op && isOf(one, currency) ? sum + BigInt(one.tokens) : sum,
    0n,
  );
}
