import type { StatsTable } from '../../core/spans.js';
import { csvLine } from '../../report/csv-files.js';
import type { LabelSum, RealmStats, Stats, Summary } from './stats.js';

/** Every chart of history as CSV: one line for each realm, period and what the table is of. */

type Cell = string | number | null;
const PLACE = ['realm', 'period', 'from', 'to'];
const LABELLED = ['currency', 'paid_orders', 'unpaid_orders', 'tokens_given', 'tokens_taken', 'tokens_moved'];

const HEADS: Readonly<Record<StatsTable, readonly string[]>> = {
  outcomes: [...PLACE, 'currency', 'op', 'outcome', 'orders', 'tokens'],
  rules: [...PLACE, 'rule', ...LABELLED],
  reasons: [...PLACE, 'reason', ...LABELLED],
  work: [
    ...PLACE,
    'success',
    'requests',
    'retries',
    'rate_limited',
    'p50_ms',
    'p95_ms',
    'share_of_allowed_rate',
  ],
};

/** All labels after the twentieth of a day. */
export const OTHERS = '(others)';

export function statsCsv({ realms }: Stats, table: StatsTable): string {
  const rows = realms.flatMap((realm) => realm.periods.flatMap((period) => rowsOf(realm, period, table)));
  return [HEADS[table], ...rows].map((cells) => csvLine(cells, ',')).join('');
}

function rowsOf(
  { realm }: RealmStats,
  one: RealmStats['periods'][number],
  table: StatsTable,
): readonly (readonly Cell[])[] {
  const place = [realm, one.period, one.from, one.to];
  return cellsOf(one, table).map((cells) => [...place, ...cells]);
}

function cellsOf(one: Summary, table: StatsTable): readonly (readonly Cell[])[] {
  if (table === 'outcomes')
    return one.outcomes.map(({ currency, op, outcome, orders, tokens }) => [
      currency ?? '',
      op,
      outcome,
      orders,
      String(tokens),
    ]);
  if (table === 'work')
    return [
      [
        rounded(one.success),
        one.requests,
        one.retries,
        one.rateLimited,
        rounded(one.p50Ms),
        rounded(one.p95Ms),
        rounded(one.share),
      ],
    ];
  return one[table].map(labelCells);
}

function labelCells({ label, currency, paid, unpaid, tokens }: LabelSum): Cell[] {
  const { credit, debit, transfer } = tokens;
  return [label ?? OTHERS, currency ?? '', paid, unpaid, String(credit), String(debit), String(transfer)];
}

function rounded(value: number | null): string {
  return value === null ? '' : String(Math.round(value * 10_000) / 10_000);
}
