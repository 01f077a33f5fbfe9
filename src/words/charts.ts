import type { Rate } from '../core/profile.js';
import type { StateCounts } from '../core/states.js';
import { counted, duration, grouped } from './spelling.js';
import { STATES_SHOWN } from './states.js';

/**
 * The charts of reports and of the desk: their shapes and texts. Each face adds its own markup. Drawings are
 * stretched to the available width, so all texts are outside of them: scaled text would be unreadable on a phone.
 */

/** A chart of stacked columns, with its texts. */
export type Columns = {
  /** The whole chart in one sentence, for readers who cannot see it. */
  readonly label: string;
  readonly columns: readonly {
    readonly key: number;
    readonly title: string;
    readonly parts: readonly { readonly css: string; readonly value: number }[];
  }[];
  /** A dashed horizontal line, such as the allowed pace. */
  readonly limit?: number | null;
  readonly from: string;
  readonly to: string;
  /** The units of the numbers beside and below the chart. */
  readonly units: { readonly y: string; readonly x: string };
};

/** Draws stacked columns. Each column is one unit wide, and the box is a hundred high. */
export function drawColumns({ columns, limit = null }: Pick<Columns, 'columns' | 'limit'>) {
  const heights = columns.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0));
  const top = roundTop(Math.max(limit ?? 0, ...heights) * 1.04);
  const height = (value: number) => (value / top) * 100;
  const bars = columns.map(({ key, title, parts }, at) => {
    let y = 100;
    const rects = parts
      .filter(({ value }) => value > 0)
      .map(({ css, value }) => {
        y -= height(value);
        return { css, x: places(at + 0.08), y: places(y), width: '0.84', height: places(height(value)) };
      });
    return { key, title, rects };
  });
  return {
    top: axis(top),
    half: axis(top / 2),
    width: Math.max(1, columns.length),
    bars: bars.filter(({ rects }) => rects.length > 0),
    limitY: limit === null ? null : places(100 - height(limit)),
  };
}

/** The next round number for the top of the axis. Half of it is a whole number where orders are counted. */
export function roundTop(value: number): number {
  if (value <= 0) return 2;
  const unit = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8].map((step) => step * unit);
  return steps.find((top) => top >= value && (top < 1 || top % 2 === 0)) ?? 10 * unit;
}

function axis(value: number): string {
  return Number.isInteger(value) ? grouped(value) : String(Math.round(value * 100) / 100);
}

/** Three decimals are a tenth of a pixel. More would only enlarge the report. */
function places(value: number): string {
  return String(Math.round(value * 1_000) / 1_000);
}

const COLUMNS_MAX = 90;

/** How an order can be settled, in the order in which columns are stacked. */
const SETTLED_AS = [
  { field: 'paid', css: 'paid', words: 'paid' },
  { field: 'failed', css: 'refused', words: 'not paid' },
  // It is unknown whether these were paid.
  { field: 'doubts', css: 'doubt', words: 'in doubt' },
] as const;

type Bin = {
  at: number;
  requests: number;
  paid: number;
  failed: number;
  doubts: number;
  rateLimited: number;
};
type Series = { readonly sliceMs: number; readonly slices: readonly Readonly<Bin>[] };

/** The run over time: settled orders, and requests against the allowed pace. Null if no request was sent. */
export function runCharts(series: Series, rate: Rate | null, spellTime: (at: number) => string) {
  const { bins, binMs } = binned(series);
  const [first, last] = [bins[0], bins.at(-1)];
  if (first === undefined || last === undefined) return null;
  const slice = duration(binMs);
  const spanMs = last.at + binMs - first.at;
  // In a short run, clock times with whole seconds would look alike, so show offsets from the start.
  const isShort = spanMs < 10_000;
  const ends = {
    from: spellTime(first.at),
    to: isShort ? `${duration(spanMs)} later` : spellTime(last.at + binMs),
  };
  const momentOf = (at: number) =>
    isShort ? `${spellTime(first.at)} + ${duration(at - first.at)}` : spellTime(at);
  const limit = rate === null ? null : (rate.requests * binMs) / rate.windowMs;
  const whole = SETTLED_AS.map(({ field }) => bins.reduce((sum, bin) => sum + bin[field], 0));
  const busiest = Math.max(...bins.map(({ requests }) => requests));
  const settled: Columns = {
    ...ends,
    units: { y: `orders per ${slice}`, x: 'time' },
    label: `Orders settled per ${slice}, over the whole run: ${settledWords(whole)}.`,
    columns: bins.map((bin) => ({
      key: bin.at,
      title: `${momentOf(bin.at)}: ${settledWords(SETTLED_AS.map(({ field }) => bin[field]))}`,
      parts: SETTLED_AS.map(({ field, css }) => ({ css: `f-${css}`, value: bin[field] })),
    })),
  };
  const requests: Columns = {
    ...ends,
    units: { y: `requests per ${slice}`, x: 'time' },
    limit,
    label: `Requests per ${slice}: at most ${grouped(busiest)}${limit === null ? '' : `, allowed ${grouped(Math.round(limit))}`}.`,
    columns: bins.map((bin) => ({
      key: bin.at,
      title: `${momentOf(bin.at)}: ${counted(bin.requests, 'request')}, ${grouped(bin.rateLimited)} of them told to slow down`,
      parts: [
        { css: 'f-requests', value: Math.max(0, bin.requests - bin.rateLimited) },
        { css: 'f-limited', value: bin.rateLimited },
      ],
    })),
  };
  return { slice, settled, settledAs: SETTLED_AS, requests };
}

function settledWords(counts: readonly number[]): string {
  return SETTLED_AS.map(({ words }, at) => `${grouped(counts[at] ?? 0)} ${words}`).join(', ');
}

/**
 * Merges the slices of a run into few enough bins to draw. Slices are in order of time; slices without activity are
 * missing.
 */
export function binned({ sliceMs, slices }: Series): { bins: Bin[]; binMs: number } {
  const start = slices[0]?.at ?? 0;
  const span = slices.length === 0 ? 0 : (slices.at(-1)?.at ?? 0) + sliceMs - start;
  const binMs = sliceMs * Math.max(1, Math.ceil(span / sliceMs / COLUMNS_MAX));
  const bins = Array.from({ length: Math.ceil(span / binMs) }, (_, n): Bin => {
    return { at: start + n * binMs, requests: 0, paid: 0, failed: 0, doubts: 0, rateLimited: 0 };
  });
  for (const slice of slices) {
    const bin = bins[Math.floor((slice.at - start) / binMs)];
    if (bin === undefined) continue;
    for (const field of ['requests', 'paid', 'failed', 'doubts', 'rateLimited'] as const)
      bin[field] += slice[field];
  }
  return { bins, binMs };
}

/** Counts of answers by time, the quickest first. */
type Buckets = readonly { readonly upToMs: number; readonly count: number }[];

/** How long the realm took to answer, in buckets of growing width. Empty buckets at both ends are left out. */
export function latencyChart(latency: Buckets): (Columns & { readonly within: string }) | null {
  const first = latency.findIndex(({ count }) => count > 0);
  if (first < 0) return null;
  const shown = latency.slice(first, latency.findLastIndex(({ count }) => count > 0) + 1);
  const answers = shown.reduce((sum, { count }) => sum + count, 0);
  const within = `half within ${reach(percentile(shown, 0.5))}, 99 % within ${reach(percentile(shown, 0.99))}`;
  return {
    within,
    units: { y: 'answers', x: 'time to the answer' },
    label: `${counted(answers, 'answer')}: ${within}.`,
    from: duration(latency[first - 1]?.upToMs ?? 0),
    to: reach(percentile(shown, 1)),
    columns: shown.map(({ upToMs, count }) => ({
      key: upToMs,
      title: `Up to ${reach(upToMs)}: ${grouped(count)}`,
      parts: [{ css: 'f-bucket', value: count }],
    })),
  };
}

/** The upper bound of the bucket that holds the rank, so never smaller than the true value. Null without data. */
export function percentile(latency: Buckets, share: number): number | null {
  let left = Math.ceil(latency.reduce((sum, { count }) => sum + count, 0) * share);
  return (
    latency.find(({ count }) => {
      left -= count;
      return count > 0 && left <= 0;
    })?.upToMs ?? null
  );
}

function reach(ms: number | null): string {
  return ms === null || ms > 3_600_000 ? 'longer' : duration(ms);
}

/** The least width, out of a thousand. Three doubts among 30,000 rows matter most and must be visible. */
const SLIVER = 8;

/** One bar of all rows by state. Tiny shares are drawn a little too wide; the numbers beside the bar are exact. */
export function drawStates(counts: StateCounts) {
  const present = STATES_SHOWN.map((state) => ({ state, count: counts[state] ?? 0 })).filter(
    ({ count }) => count > 0,
  );
  const rows = present.reduce((sum, { count }) => sum + count, 0);
  const raw = present.map(({ count }) => Math.max(SLIVER, (count * 1_000) / rows));
  const all = raw.reduce((sum, part) => sum + part, 0);
  const gap = present.length > 1 ? 2 : 0;
  let end = 0;
  const rects = present.map(({ state, count }, at) => {
    const x = end.toFixed(2);
    const width = ((raw[at] ?? 0) * 1_000) / all;
    end += width;
    const size = { width: Math.max(width - gap, 1).toFixed(2), height: '10' };
    return { title: `${state}: ${counted(count, 'row')}`, css: `f-${state}`, x, y: '0', ...size };
  });
  const label = present.map(({ state, count }) => `${state} ${grouped(count)}`).join(', ');
  return { rects, label: rows === 0 ? 'No rows' : `Rows by state: ${label}` };
}
