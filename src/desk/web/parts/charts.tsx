import type { Rate } from '../../../core/profile.js';
import type { StateCounts } from '../../../core/states.js';
import { type Columns, drawColumns, drawStates, latencyChart, runCharts } from '../../../words/charts.js';
import { clockTime, counted, dayAndClock, duration, grouped } from '../../../words/spelling.js';
import type { BatchReply, RealmCard } from '../../api/index.js';

/** A column chart. Sizes are attributes: the content policy forbids inline styles. */
export function ColumnChart({ low = false, ...chart }: Columns & { readonly low?: boolean }) {
  const { top, half, width, bars, limitY } = drawColumns(chart);
  return (
    <div class={low ? 'plot low' : 'plot'}>
      <div class="plot-unit" aria-hidden="true">
        {chart.units.y}
      </div>
      <div class="plot-y" aria-hidden="true">
        <span>{top}</span>
        <span>{half}</span>
        <span>0</span>
      </div>
      <svg role="img" aria-label={chart.label} viewBox={`0 0 ${width} 100`} preserveAspectRatio="none">
        <line class="grid" x1="0" x2={width} y1="50" y2="50" />
        <line class="grid" x1="0" x2={width} y1="0" y2="0" />
        {bars.map(({ key, title, rects }) => (
          <g key={key}>
            <title>{title}</title>
            {rects.map(({ css, ...place }) => (
              <rect key={css} class={css} {...place} />
            ))}
          </g>
        ))}
        {limitY !== null && <line class="limit" x1="0" x2={width} y1={limitY} y2={limitY} />}
      </svg>
      <div class="plot-x" aria-hidden="true">
        <span>{chart.from}</span>
        <span>{chart.units.x}</span>
        <span>{chart.to}</span>
      </div>
    </div>
  );
}

type RunChartProps = { readonly series: BatchReply['series']; readonly rate: Rate | null };

/** A run over time: settled orders, and requests against the allowed pace. */
export function RunChart({ series, rate }: RunChartProps) {
  const now = new Date();
  const charts = runCharts(
    { ...series, slices: series.slices.map((slice) => ({ ...slice, at: Date.parse(slice.at) })) },
    rate,
    (at) => dayAndClock(new Date(at), now),
  );
  if (charts === null)
    return <p class="soft chart-none">Nothing was sent yet; the chart begins with the first request.</p>;
  return (
    <div class="charts">
      <figure>
        <figcaption>
          Settled per {charts.slice}
          <span class="legend">
            {charts.settledAs.map(({ css, words }) => (
              <span key={css}>
                <i class={`key k-${css}`} /> {words}
              </span>
            ))}
          </span>
        </figcaption>
        <ColumnChart {...charts.settled} />
      </figure>
      <figure>
        <figcaption>
          Requests per {charts.slice}
          <span class="legend">
            <i class="key k-requests" /> answered <i class="key k-limited" /> slow down (429)
            {rate !== null && <AllowedKey />}
          </span>
        </figcaption>
        <ColumnChart {...charts.requests} />
      </figure>
    </div>
  );
}

export function AllowedKey() {
  return (
    <>
      {' '}
      <i class="key dash" /> allowed
    </>
  );
}

/** How long the realm took to reply, as a histogram. */
export function LatencyChart({ latency }: { readonly latency: BatchReply['latency'] }) {
  const chart = latencyChart(latency);
  if (chart === null) return <p class="soft chart-none">No request was answered yet.</p>;
  return (
    <figure>
      <figcaption>
        Answers by time
        <span class="legend">{chart.within}</span>
      </figcaption>
      <ColumnChart {...chart} />
    </figure>
  );
}

const SLICES_SHOWN = 60;

/** The requests of the last minutes against the allowed pace. */
export function PaceChart({ pace, realm }: { readonly pace: RealmCard['pace']; readonly realm: string }) {
  const { sliceMs, requests } = pace.recent;
  const endsAt = Date.parse(pace.recent.endsAt);
  // The server sends few slices for a quiet realm. The chart keeps its width and fills from the right.
  const quiet = Array.from({ length: Math.max(0, SLICES_SHOWN - requests.length) }, () => 0);
  const shown = [...quiet, ...requests].slice(-SLICES_SHOWN);
  const startsAt = endsAt - SLICES_SHOWN * sliceMs;
  const clock = (at: number) => clockTime(new Date(at));
  const allowed = pace.allowed === null ? null : (pace.allowed.requests * sliceMs) / pace.allowed.windowMs;
  const most = `at most ${grouped(Math.max(...shown))} requests per ${duration(sliceMs)}`;
  const limit = allowed === null ? 'no limit set' : `${Math.round(allowed * 10) / 10} allowed`;
  return (
    <ColumnChart
      low
      label={`Requests to ${realm} since ${clock(startsAt)}: ${most}, ${limit}.`}
      columns={shown.map((value, at) => ({
        key: startsAt + at * sliceMs,
        title: `${clock(startsAt + at * sliceMs)}: ${counted(value, 'request')}`,
        parts: [{ css: 'f-requests', value }],
      }))}
      limit={allowed}
      units={{ y: `requests per ${duration(sliceMs)}`, x: 'time' }}
      from={clock(startsAt).slice(0, 5)}
      to={clock(endsAt).slice(0, 5)}
    />
  );
}

/** All rows by state in one bar. */
export function StateBar({
  counts,
  tall = false,
}: {
  readonly counts: StateCounts;
  readonly tall?: boolean;
}) {
  const { rects, label } = drawStates(counts);
  return (
    <svg
      class={tall ? 'state-bar tall' : 'state-bar'}
      role="img"
      aria-label={label}
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
    >
      <rect class="f-track" x="0" y="0" width="1000" height="10" />
      {rects.map(({ css, title, ...place }) => (
        <rect key={css} class={css} {...place}>
          <title>{title}</title>
        </rect>
      ))}
    </svg>
  );
}
