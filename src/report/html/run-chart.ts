import type { Rate } from '../../core/profile.js';
import type { RunSeries } from '../../ledger/index.js';
import { clockTime, duration, grouped, rateWords } from '../spelling.js';
import { type Html, html } from './markup.js';
import { type Plot, plot } from './plot.js';

const COLUMNS_MAX = 120;

type Bin = { at: number; requests: number; paid: number; failed: number; rateLimited: number };

/** The run over time: requests against the allowed pace, and below it what was settled. */
export function runChart(series: RunSeries, rate: Rate | null): Html | null {
  const { bins, binMs } = binned(series);
  const first = bins[0];
  const last = bins.at(-1);
  if (first === undefined || last === undefined) return null;
  const allowed = rate === null ? undefined : (rate.requests * binMs) / rate.windowMs;
  const ends = axisEnds(first.at, last.at + binMs);
  const busiest = Math.max(...bins.map((bin) => bin.requests));
  const slice = duration(binMs);

  const requests: Plot = {
    ...ends,
    label: `Requests per ${slice}: at most ${grouped(busiest)}${allowed === undefined ? '' : `, allowed ${grouped(Math.round(allowed))}`}.`,
    columns: bins.map((bin) => ({
      title: `${clockTime(bin.at)}: ${grouped(bin.requests)} requests, ${grouped(bin.rateLimited)} of them told to slow down`,
      segments: [
        { css: 'f-requests', value: Math.max(0, bin.requests - bin.rateLimited) },
        { css: 'f-limited', value: bin.rateLimited },
      ],
    })),
    ...(allowed === undefined ? {} : { limit: allowed }),
  };
  const settled: Plot = {
    ...ends,
    label: `Settled per ${slice}: ${grouped(total(bins, 'paid'))} paid and ${grouped(total(bins, 'failed'))} not paid over the run.`,
    columns: bins.map((bin) => ({
      title: `${clockTime(bin.at)}: ${grouped(bin.paid)} paid, ${grouped(bin.failed)} not paid`,
      segments: [
        { css: 'f-paid', value: bin.paid },
        { css: 'f-refused', value: bin.failed },
      ],
    })),
  };
  const allowedKey =
    rate === null
      ? html`<li>No pace was set.</li>`
      : html`<li><span class="key dash"></span>allowed: ${rateWords(rate)}</li>`;
  return html`<h3>Requests per ${slice}</h3>
${plot(requests)}
<ul class="legend"><li><span class="key b-requests"></span>answered</li><li><span class="key b-limited"></span>told to slow down (429)</li>${allowedKey}</ul>
<h3>Settled per ${slice}</h3>
${plot(settled)}
<ul class="legend"><li><span class="key b-paid"></span>paid</li><li><span class="key b-refused"></span>not paid</li></ul>`;
}

/** Slices may be missing where nothing happened, and may be far too many to draw. */
export function binned({ sliceMs, slices }: RunSeries): { bins: Bin[]; binMs: number } {
  const ats = slices.map((slice) => slice.at);
  const start = ats.reduce((low, at) => Math.min(low, at), Number.POSITIVE_INFINITY);
  const end = ats.reduce((high, at) => Math.max(high, at), 0) + sliceMs;
  if (!Number.isFinite(start) || sliceMs <= 0) return { bins: [], binMs: sliceMs };
  const binMs = sliceMs * Math.max(1, Math.ceil((end - start) / sliceMs / COLUMNS_MAX));
  const bins = Array.from({ length: Math.ceil((end - start) / binMs) }, (_, n): Bin => {
    return { at: start + n * binMs, requests: 0, paid: 0, failed: 0, rateLimited: 0 };
  });
  for (const slice of slices) {
    const bin = bins[Math.floor((slice.at - start) / binMs)];
    if (bin === undefined) continue;
    bin.requests += slice.requests;
    bin.paid += slice.paid;
    bin.failed += slice.failed;
    bin.rateLimited += slice.rateLimited;
  }
  return { bins, binMs };
}

/** The date once where one is enough: two full dates do not fit side by side on a phone. */
function axisEnds(from: number, to: number): { from: string; to: string } {
  const [day, end] = [clockTime(from).slice(0, 10), clockTime(to)];
  return { from: clockTime(from), to: end.startsWith(day) ? end.slice(11) : end };
}

function total(bins: readonly Bin[], field: 'paid' | 'failed'): number {
  return bins.reduce((sum, bin) => sum + bin[field], 0);
}
