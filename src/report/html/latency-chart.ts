import type { LatencyHistogram } from '../../ledger/views.js';
import { counted, duration } from '../spelling.js';
import { type Html, html } from './markup.js';
import { plot } from './plot.js';

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
