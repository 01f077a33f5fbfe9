import type { BatchReply, RealmCard } from '../../api/index.js';
import { counted, grouped } from '../words/numbers.js';
import { clock, duration } from '../words/times.js';

export type Column = {
  readonly key: number;
  readonly title: string;
  readonly parts: readonly { readonly css: string; readonly value: number }[];
};

type ColumnsProps = {
  /** The whole chart in one sentence, for those who cannot see it. */
  readonly label: string;
  readonly columns: readonly Column[];
  /** A dashed line across, such as the allowed pace. */
  readonly limit?: number | null;
  readonly from: string;
  readonly to: string;
  readonly low?: boolean;
};

/**
 * Stacked columns. The drawing is stretched to whatever width there is, so all words stand outside of it:
 * text inside a scaled drawing would be unreadable on a phone. Sizes are attributes, never inline styles.
 */
export function Columns({ label, columns, limit = null, from, to, low = false }: ColumnsProps) {
  const highest = columns.reduce((top, { parts }) => Math.max(top, total(parts)), limit ?? 0);
  const top = roundTop(highest * 1.04);
  const height = (value: number) => (value / top) * 100;
  return (
    <div class={low ? 'plot low' : 'plot'}>
      <div class="plot-y" aria-hidden="true">
        <span>{axis(top)}</span>
        <span>{axis(top / 2)}</span>
        <span>0</span>
      </div>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${Math.max(1, columns.length)} 100`}
        preserveAspectRatio="none"
      >
        <line class="grid" x1="0" x2={columns.length} y1="50" y2="50" />
        <line class="grid" x1="0" x2={columns.length} y1="0" y2="0" />
        {columns.map((column, at) => (
          <Stack key={column.key} column={column} at={at} height={height} />
        ))}
        {limit !== null && (
          <line
            class="limit"
            x1="0"
            x2={columns.length}
            y1={places(100 - height(limit))}
            y2={places(100 - height(limit))}
          />
        )}
      </svg>
      <div class="plot-x" aria-hidden="true">
        <span>{from}</span>
        <span>{to}</span>
      </div>
    </div>
  );
}

type StackProps = {
  readonly column: Column;
  readonly at: number;
  readonly height: (value: number) => number;
};

function Stack({ column, at, height }: StackProps) {
  let y = 100;
  const drawn = column.parts.filter(({ value }) => value > 0);
  if (drawn.length === 0) return null;
  return (
    <g>
      <title>{column.title}</title>
      {drawn.map(({ css, value }) => {
        y -= height(value);
        return (
          <rect
            key={css}
            class={css}
            x={places(at + 0.08)}
            y={places(y)}
            width="0.84"
            height={places(height(value))}
          />
        );
      })}
    </g>
  );
}

/** The next of 1, 2, 2.5, 5, 10… so that the axis has numbers people like. */
export function roundTop(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((candidate) => candidate * unit >= value) ?? 10;
  return step * unit;
}

function total(parts: Column['parts']): number {
  return parts.reduce((sum, { value }) => sum + value, 0);
}

function axis(value: number): string {
  return Number.isInteger(value) ? grouped(value) : String(Math.round(value * 100) / 100);
}

function places(value: number): string {
  return String(Math.round(value * 1_000) / 1_000);
}

/** How long the realm took to answer, in buckets that widen. */
export function LatencyChart({ latency }: { readonly latency: BatchReply['latency'] }) {
  const first = latency.findIndex(({ count }) => count > 0);
  const last = latency.findLastIndex(({ count }) => count > 0);
  if (first < 0) return <p class="soft chart-none">No request was answered yet.</p>;
  const shown = latency.slice(first, last + 1);
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const median = upToShare(shown, total, 0.5);
  const slow = upToShare(shown, total, 0.99);
  return (
    <figure>
      <figcaption>
        Answers by time
        <span class="legend">
          half within {reach(median)}, 99 % within {reach(slow)}
        </span>
      </figcaption>
      <Columns
        label={`${counted(total, 'answer')}: half within ${reach(median)}, 99 % within ${reach(slow)}.`}
        from={reach(shown[0]?.upToMs ?? 0)}
        to={reach(shown.at(-1)?.upToMs ?? 0)}
        columns={shown.map(({ upToMs, count }) => ({
          key: upToMs,
          title: `Up to ${reach(upToMs)}: ${grouped(count)}`,
          parts: [{ css: 'f-bucket', value: count }],
        }))}
      />
    </figure>
  );
}

function upToShare(latency: BatchReply['latency'], total: number, share: number): number {
  let seen = 0;
  for (const { upToMs, count } of latency) {
    seen += count;
    if (seen >= total * share) return upToMs;
  }
  return latency.at(-1)?.upToMs ?? 0;
}

/** The last bucket has no upper end; JSON says it as null or a number beyond all time-outs. */
function reach(ms: number | null): string {
  return ms === null || !Number.isFinite(ms) || ms > 3_600_000 ? 'longer' : duration(ms);
}

const COLUMNS_SHOWN = 60;

/** Requests of the last minutes against what the realm allows. */
export function PaceChart({ pace, realm }: { readonly pace: RealmCard['pace']; readonly realm: string }) {
  const { sliceMs, endsAt, requests } = pace.recent;
  // A quiet realm answers a short list; the chart keeps its width and fills from the right.
  const shown = [...new Array(Math.max(0, COLUMNS_SHOWN - requests.length)).fill(0), ...requests].slice(
    -Math.max(COLUMNS_SHOWN, 1),
  );
  const startsAt = endsAt - shown.length * sliceMs;
  const allowed = pace.allowed === null ? null : (pace.allowed.requests * sliceMs) / pace.allowed.windowMs;
  const columns = shown.map((value: number, at) => ({
    key: startsAt + at * sliceMs,
    title: `${clock(new Date(startsAt + at * sliceMs))}: ${grouped(value)} requests`,
    parts: [{ css: 'f-requests', value }],
  }));
  const busiest = shown.reduce((most: number, value: number) => Math.max(most, value), 0);
  const most = `at most ${grouped(busiest)} requests per ${duration(sliceMs)}`;
  const limit = allowed === null ? 'no limit set' : `${Math.round(allowed * 10) / 10} allowed`;
  return (
    <Columns
      low
      label={`Requests to ${realm} since ${clock(new Date(startsAt))}: ${most}, ${limit}.`}
      columns={columns}
      limit={allowed}
      from={clock(new Date(startsAt)).slice(0, 5)}
      to={clock(new Date(endsAt)).slice(0, 5)}
    />
  );
}
