import type { Rate } from '../../core/profile.js';
import type { BatchRecord } from '../../ledger/index.js';
import { type Columns, drawColumns, drawStates, latencyChart, runCharts } from '../../words/charts.js';
import { allowedWords, utcTime } from '../../words/spelling.js';
import type { Summary } from '../summary.js';
import { type Html, html } from './markup.js';

/** Charts of the run over time: requests against the allowed pace, and below them the settled orders. */
export function runOverTime(series: BatchRecord['series'], rate: Rate | null): Html | null {
  const charts = runCharts(series, rate, utcTime);
  if (charts === null) return null;
  const allowedKey =
    rate === null
      ? html`<li>No pace was set.</li>`
      : html`<li><span class="key dash"></span>allowed: ${allowedWords(rate)}</li>`;
  return html`<h3>Requests per ${charts.slice}</h3>
${columns(charts.requests)}
<ul class="legend"><li><span class="key b-requests"></span>answered</li><li><span class="key b-limited"></span>told to slow down (429)</li>${allowedKey}</ul>
<h3>Settled per ${charts.slice}</h3>
${columns(charts.settled)}
<ul class="legend">${charts.settledAs.map(({ css, words }) => html`<li><span class="key b-${css}"></span>${words}</li>`)}</ul>`;
}

export function answersByTime(latency: BatchRecord['latency']): Html | null {
  const chart = latencyChart(latency);
  return chart === null ? null : html`<h3>Answers by time</h3>\n${columns(chart)}`;
}

function columns(chart: Columns): Html {
  const { top, half, width, bars, limitY } = drawColumns(chart);
  const { label, from, to, units } = chart;
  // Print the date once if both ends have the same one: two full dates do not fit side by side on a phone.
  const end = from.length > 11 && to.startsWith(from.slice(0, 11)) ? to.slice(11) : to;
  const drawn = bars.map(
    ({ title, rects }) =>
      html`<g><title>${title}</title>${rects.map(({ css, x, y, ...size }) => html`<rect class="${css}" x="${x}" y="${y}" width="${size.width}" height="${size.height}"/>`)}</g>\n`,
  );
  const line =
    limitY === null ? null : html`<line class="limit" x1="0" x2="${width}" y1="${limitY}" y2="${limitY}"/>`;
  return html`<div class="plot">
<div class="unit" aria-hidden="true">${units.y}</div>
<div class="y" aria-hidden="true"><span>${top}</span><span>${half}</span><span>0</span></div>
<svg role="img" aria-label="${label}" viewBox="0 0 ${width} 100" preserveAspectRatio="none">
${drawn}${line}</svg>
<div class="x" aria-hidden="true"><span>${from}</span><span>${units.x}</span><span>${end}</span></div>
</div>`;
}

export function stateBar(counts: Summary['counts']): Html | null {
  const { rects, label } = drawStates(counts);
  if (rects.length === 0) return null;
  return html`<svg class="stack" role="img" aria-label="${label}" viewBox="0 0 1000 10" preserveAspectRatio="none">${rects.map(
    ({ css, x, width, title }) =>
      html`<rect class="${css}" x="${x}" y="0" width="${width}" height="10"><title>${title}</title></rect>`,
  )}</svg>`;
}
