import { grouped } from '../words/numbers.js';

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
