import { useEffect } from 'preact/hooks';
import type { Span } from '../../../../core/spans.js';
import { grouped } from '../../../../words/spelling.js';
import type { StatsReply } from '../../../api/index.js';
import { useResource } from '../../live/resource.js';
import { ColumnChart } from '../../parts/charts.js';
import { Panel } from '../../parts/panel.js';
import { Link, pathWith } from '../../shell/address.js';
import {
  latencyColumns,
  MEASURE_WORDS,
  ordersIn,
  rateColumns,
  requestColumns,
  seriesOf,
  shareWords,
  stackedColumns,
  successColumns,
  timeWords,
  type View,
} from './columns.js';
import { ChartFigure } from './numbers-table.js';

export type Realm = StatsReply['realms'][number];
export type Asked = Readonly<Record<string, string | null>>;

type Props = { readonly realm: Realm; readonly by: Span; readonly asked: Asked };

/** The address of the CSV with the numbers of a chart. */
export function csvOf(asked: Asked, of: string): string {
  return pathWith('/api/stats.csv', { ...asked, of });
}

/** Orders or tokens over time, stacked by outcome or by rule. */
export function PaidPanel({ realm, view, by, asked }: Props & { readonly view: View }) {
  const series = seriesOf(realm, view);
  const what = MEASURE_WORDS[view.measure];
  const title = `${view.by === 'rule' ? `Paid: ${what}` : what} per ${by}`;
  return (
    <ChartFigure
      title={title.charAt(0).toUpperCase() + title.slice(1)}
      legend={series.map(({ css, words }) => (
        <span key={css}>
          <i class={`key k-${css}`} /> {words}
        </span>
      ))}
      csv={csvOf(asked, view.by === 'rule' ? 'rules' : 'outcomes')}
      chart={<ColumnChart {...stackedColumns(realm, series, what, by)} />}
      table={{
        label: title,
        heads: ['Period', ...series.map(({ words }) => words)],
        rows: realm.periods.map(({ period }, at) => ({
          key: period,
          cells: [period, ...series.map(({ values }) => grouped(values[at] ?? 0n))],
        })),
      }}
    />
  );
}

/** The charts of the realm's replies: success, latency, requests and 429s. */
export function AnswersPanel({ realm, by, asked }: Props) {
  const csv = csvOf(asked, 'work');
  const props = { realm, by, csv };
  return (
    <Panel title="How the realm answered">
      <div class="charts answers">
        <Success {...props} />
        <Requests {...props} />
        <AnswerTime {...props} />
        <RateUsed {...props} />
      </div>
    </Panel>
  );
}

type AnswersProps = Pick<Props, 'realm' | 'by'> & { readonly csv: string };

function periodRows(realm: Realm, cells: (one: Realm['periods'][number]) => string[]) {
  return realm.periods.map((one) => ({ key: one.period, cells: [one.period, ...cells(one)] as const }));
}

function Success({ realm, csv }: AnswersProps) {
  return (
    <ChartFigure
      title="Success"
      legend={
        <>
          <i class="key k-paid" /> paid <i class="key k-refused" /> not paid, or in doubt
        </>
      }
      csv={csv}
      chart={<ColumnChart {...successColumns(realm)} />}
      table={{
        label: 'Success',
        heads: ['Period', 'Paid of those that ended'],
        rows: periodRows(realm, (one) => [shareWords(one.success)]),
      }}
    />
  );
}

function Requests({ realm, by, csv }: AnswersProps) {
  return (
    <ChartFigure
      title={`Requests per ${by}`}
      legend={
        <>
          <i class="key k-requests" /> answered <i class="key k-limited" /> slow down (429)
        </>
      }
      csv={csv}
      chart={<ColumnChart {...requestColumns(realm, by)} />}
      table={{
        label: `Requests per ${by}`,
        heads: ['Period', 'Requests', 'Retries', '429s'],
        rows: periodRows(realm, (one) => [
          grouped(one.requests),
          grouped(one.retries),
          grouped(one.rateLimited),
        ]),
      }}
    />
  );
}

function AnswerTime({ realm, csv }: AnswersProps) {
  return (
    <ChartFigure
      title="Time to the answer"
      legend={
        <>
          <i class="key k-requests" /> half within <i class="key k-bucket" /> 95 % within
        </>
      }
      csv={csv}
      chart={<ColumnChart {...latencyColumns(realm)} />}
      table={{
        label: 'Time to the answer',
        heads: ['Period', 'Half within', '95 % within'],
        rows: periodRows(realm, (one) => [timeWords(one.p50Ms), timeWords(one.p95Ms)]),
      }}
    />
  );
}

function RateUsed({ realm, csv }: AnswersProps) {
  return (
    <ChartFigure
      title="Allowed rate used"
      legend={
        <>
          <i class="key k-requests" /> used while orders were sent <i class="key dash" /> allowed
        </>
      }
      csv={csv}
      chart={<ColumnChart {...rateColumns(realm)} />}
      table={{
        label: 'Allowed rate used',
        heads: ['Period', 'Of the allowed rate'],
        rows: periodRows(realm, (one) => [shareWords(one.share)]),
      }}
    />
  );
}

/** A minute is enough, because past days hardly change. */
const RELOAD_MS = 60_000;
const VIEW = { measure: 'orders', currency: '', by: 'outcome' } as const;

/** The last fourteen days of each realm that sent anything in them, as small charts. */
export function RecentDays() {
  const { value, reload } = useResource<StatsReply>('/api/stats');
  useEffect(() => {
    const timer = setInterval(reload, RELOAD_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const realms = (value?.realms ?? []).filter(({ whole }) => whole.outcomes.length > 0);
  if (realms.length === 0) return null;
  return (
    <Panel title="Last 14 days" aside={<Link to="/history">History</Link>}>
      <div class="charts">
        {realms.map((realm) => (
          <figure key={realm.realm}>
            <figcaption>
              <Link to={pathWith('/history', { realm: realm.realm })}>{realm.realm}</Link>
              <span class="legend n">
                {grouped(ordersIn(realm.whole, 'paid'))} paid, {grouped(ordersIn(realm.before, 'paid'))} in
                the 14 days before
              </span>
            </figcaption>
            <ColumnChart low {...stackedColumns(realm, seriesOf(realm, VIEW), 'orders', 'day')} />
          </figure>
        ))}
      </div>
    </Panel>
  );
}
