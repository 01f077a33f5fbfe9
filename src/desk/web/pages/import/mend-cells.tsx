import { isOfRow } from '../../../../words/faults.js';
import { counted } from '../../../../words/spelling.js';
import type { FaultReply } from '../../../api/index.js';
import { Button } from '../../parts/fields.js';

/** The text typed into faulty cells, by line and column. */
export type Typed = ReadonlyMap<string, string>;
type MendedCell = { readonly line: number; readonly column: string; readonly text: string };

export function placeOfFault({ line, column }: FaultReply): string {
  return `${line} ${column ?? ''}`;
}

type CellProps = {
  readonly fault: FaultReply;
  /** True for the first fault of a cell. A cell with several faults is edited there. */
  readonly first: boolean;
  readonly typed: Typed;
  readonly onTyped: (typed: Typed) => void;
};

/** A faulty cell, edited beside its fault. */
export function CellField({ fault, first, typed, onTyped }: CellProps) {
  const { line, column, cell } = fault;
  if (cell === undefined)
    return isOfRow(fault.code) ? <span class="soft small">only in the file itself</span> : null;
  if (!first) return <span class="soft small">the cell above</span>;
  const place = placeOfFault(fault);
  return (
    <input
      type="text"
      class="mono"
      aria-label={`${column} on line ${line}`}
      maxLength={1_000}
      value={typed.get(place) ?? cell}
      onInput={(event) => onTyped(new Map(typed).set(place, event.currentTarget.value))}
    />
  );
}

type TakeCellsProps = {
  readonly faults: readonly FaultReply[];
  readonly typed: Typed;
  readonly busy: boolean;
  readonly onMend: (cells: readonly MendedCell[]) => void;
};

/** Sends the mended cells. The server makes a new file of them and plans it. */
export function TakeCells({ faults, typed, busy, onMend }: TakeCellsProps) {
  if (faults.every(({ cell }) => cell === undefined)) return null;
  const cells = new Map<string, MendedCell>();
  for (const fault of faults) {
    const text = typed.get(placeOfFault(fault));
    if (fault.cell === undefined || fault.column === null || text === undefined || text === fault.cell)
      continue;
    cells.set(placeOfFault(fault), { line: fault.line, column: fault.column, text });
  }
  return (
    <div class="panel-note actions">
      <Button
        name="Take these cells"
        look="primary"
        disabled={busy || cells.size === 0}
        onPress={() => onMend([...cells.values()])}
      />
      <span class="soft small" role="status">
        {cells.size === 0
          ? 'Cells can be mended here; the file is then written anew and planned again.'
          : `${counted(cells.size, 'cell')} changed. All other rows stay as they are, byte for byte.`}
      </span>
    </div>
  );
}
