import type { OrderState } from '../../core/states.js';
import { counted } from '../spelling.js';
import { type Html, html } from './markup.js';
import { STATES_SHOWN } from './state-words.js';

/** Out of a thousand: three doubts among 30,000 rows are the news, and must not be thinner than a hair. */
const SLIVER = 8;

/** One bar of all rows by state. Tiny shares are drawn a little too wide; the table beside it is exact. */
export function stateBar(counts: Readonly<Record<OrderState, number>>): Html | null {
  const present = STATES_SHOWN.filter((state) => counts[state] > 0);
  const rows = present.reduce((sum, state) => sum + counts[state], 0);
  if (rows === 0) return null;
  const raw = present.map((state) => Math.max(SLIVER, (counts[state] * 1_000) / rows));
  const width = raw.reduce((sum, part) => sum + part, 0);
  const gap = present.length > 1 ? 2 : 0;
  let x = 0;
  const parts = present.map((state, at) => {
    const part = ((raw[at] ?? 0) * 1_000) / width;
    const rect = html`<rect class="f-${state}" x="${x.toFixed(2)}" y="0" width="${Math.max(part - gap, 1).toFixed(2)}" height="10"><title>${state}: ${counted(counts[state], 'row')}</title></rect>`;
    x += part;
    return rect;
  });
  const label = present.map((state) => `${state} ${counts[state]}`).join(', ');
  return html`<svg class="stack" role="img" aria-label="Rows by state: ${label}" viewBox="0 0 1000 10" preserveAspectRatio="none">${parts}</svg>`;
}
