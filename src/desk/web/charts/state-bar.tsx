import type { OrderState } from '../../../core/states.js';
import { grouped } from '../words/numbers.js';
import { STATES_SHOWN } from '../words/states.js';

/** Out of a thousand: three doubts among 30,000 rows are the news, and must not be thinner than a hair. */
const SLIVER = 8;

type Counts = Readonly<Partial<Record<OrderState, number>>>;

/** One bar of all rows by state. Tiny shares are drawn a little too wide; the numbers beside it are exact. */
export function StateBar({ counts, tall = false }: { readonly counts: Counts; readonly tall?: boolean }) {
  const present = STATES_SHOWN.map((state) => ({ state, count: counts[state] ?? 0 })).filter(
    ({ count }) => count > 0,
  );
  const rows = present.reduce((sum, { count }) => sum + count, 0);
  const drawn = present.map(({ count }) => Math.max(SLIVER, (count * 1_000) / Math.max(1, rows)));
  const width = drawn.reduce((sum, part) => sum + part, 0);
  const gap = present.length > 1 ? 2 : 0;
  const label = present.map(({ state, count }) => `${state} ${grouped(count)}`).join(', ');
  let x = 0;
  return (
    <svg
      class={tall ? 'state-bar tall' : 'state-bar'}
      role="img"
      aria-label={rows === 0 ? 'No rows' : `Rows by state: ${label}`}
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
    >
      <rect class="f-track" x="0" y="0" width="1000" height="10" />
      {present.map(({ state, count }, at) => {
        const part = ((drawn[at] ?? 0) * 1_000) / width;
        const start = x;
        x += part;
        return (
          <rect
            key={state}
            class={`f-${state}`}
            x={start.toFixed(2)}
            y="0"
            width={Math.max(part - gap, 1).toFixed(2)}
            height="10"
          >
            <title>{`${state}: ${grouped(count)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}
