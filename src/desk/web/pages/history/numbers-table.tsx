import type { ComponentChildren } from 'preact';
import { Table } from '../../parts/panel.js';

type Cells = readonly [name: ComponentChildren, ...values: ComponentChildren[]];
type Props = {
  readonly label: string;
  readonly heads: readonly string[];
  readonly rows: readonly { readonly key: string; readonly cells: Cells }[];
};

/** A table of numbers. On a phone each row becomes a card, and each number follows its name. */
export function NumbersTable({ label, heads, rows }: Props) {
  const [first = '', ...names] = heads;
  return (
    <Table label={label} css="numbers" heads={[first, ...names.map((name) => [name, 'n'] as const)]}>
      {rows.map(({ key, cells: [name, ...values] }) => (
        <tr key={key}>
          <th scope="row">{name}</th>
          {values.map((value, at) => (
            <td key={names[at]} class="n" data-head={names[at]}>
              {value}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

type ChartProps = {
  readonly title: string;
  readonly legend?: ComponentChildren;
  /** The address of the same numbers as CSV. */
  readonly csv: string;
  readonly chart: ComponentChildren;
  readonly table: Props;
};

/** A chart, its numbers as a table, and a link to both as a file. */
export function ChartFigure({ title, legend, csv, chart, table }: ChartProps) {
  return (
    <figure>
      <figcaption>
        {title}
        <span class="legend">{legend}</span>
      </figcaption>
      {chart}
      <div class="chart-foot">
        <details>
          <summary>As a table</summary>
          <NumbersTable {...table} />
        </details>
        <a href={csv} download>
          As CSV
        </a>
      </div>
    </figure>
  );
}
