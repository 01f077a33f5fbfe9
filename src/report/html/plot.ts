import type { LatencyHistogram } from '../../ledger/index.js';
import { counted, duration, grouped } from '../spelling.js';
import { Html, html } from './markup.js';

export type PlotColumn = {
  readonly title: string;
  readonly segments: readonly { readonly css: string; readonly value: number }[];
};

export type Plot = {
  /** The whole chart in one sentence, for those who cannot see it. */
  readonly label: string;
  readonly columns: readonly PlotColumn[];
  /** A dashed line across, such as the allowed pace. */
  readonly limit?: number;
  readonly from: string;
  readonly to: string;
};

/**
 * Stacked columns. The drawing is stretched to whatever width there is, so all words stand outside of it in
 * HTML: text inside a scaled drawing would be unreadable on a phone.
 */
export function plot({ label, columns, limit, from, to }: Plot): Html {
  const highest = columns.reduce((top, { segments }) => Math.max(top, total(segments)), limit ?? 0);
  const top = roundTop(highest);
  const height = (value: number) => (value / top) * 100;
  const bars = columns.map(({ title, segments }, at) => {
    let y = 100;
    const parts = segments
      .filter(({ value }) => value > 0)
      .map(({ css, value }) => {
        y -= height(value);
        return html`<rect class="${css}" x="${places(at + 0.06)}" y="${places(y)}" width="0.88" height="${places(height(value))}"/>`;
      });
    return parts.length === 0 ? null : html`<g><title>${title}</title>${parts}</g>\n`;
  });
  const line =
    limit === undefined
      ? null
      : html`<line class="limit" x1="0" x2="${columns.length}" y1="${places(100 - height(limit))}" y2="${places(100 - height(limit))}"/>`;
  return html`<div class="plot">
<div class="y" aria-hidden="true"><span>${axis(top)}</span><span>${axis(top / 2)}</span><span>0</span></div>
<svg role="img" aria-label="${label}" viewBox="0 0 ${columns.length} 100" preserveAspectRatio="none">
${bars}${line}</svg>
<div class="x" aria-hidden="true"><span>${from}</span><span>${to}</span></div>
</div>`;
}

/** The next of 1, 2, 2.5, 5, 10… so that the axis has numbers people like. */
export function roundTop(value: number): number {
  if (value <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 2.5, 5, 10].find((candidate) => candidate * unit >= value) ?? 10;
  return step * unit;
}

function total(segments: PlotColumn['segments']): number {
  return segments.reduce((sum, { value }) => sum + value, 0);
}

function axis(value: number): string {
  return Number.isInteger(value) ? grouped(value) : String(value);
}

/** Three decimals are a tenth of a pixel; more would only make the file larger. */
function places(value: number): Html {
  return new Html(String(Math.round(value * 1_000) / 1_000));
}

/** How long the realm took to answer: one column per bucket, empty ones at both ends left out. */
export function latencyChart(histogram: LatencyHistogram): Html | null {
  const sorted = [...histogram].sort((a, b) => a.upToMs - b.upToMs);
  const first = sorted.findIndex((bucket) => bucket.count > 0);
  const last = sorted.findLastIndex((bucket) => bucket.count > 0);
  if (first < 0) return null;
  const buckets = sorted.slice(first, last + 1);
  const lower = first === 0 ? 0 : (sorted[first - 1]?.upToMs ?? 0);
  const columns = buckets.map((bucket) => ({
    title: `${upTo(bucket.upToMs)}: ${counted(bucket.count, 'request')}`,
    segments: [{ css: 'f-bucket', value: bucket.count }],
  }));
  const upper = buckets.at(-1)?.upToMs ?? 0;
  return html`<h3>Requests by time to the answer</h3>
${plot({
  label: `Requests by time to the answer, from ${duration(lower)} to ${upTo(upper)}.`,
  columns,
  from: `from ${duration(lower)}`,
  to: upTo(upper),
})}`;
}

function upTo(ms: number): string {
  return Number.isFinite(ms) ? `up to ${duration(ms)}` : 'longer';
}
