import type { Readable } from 'node:stream';
import type { RealmProfile } from '../../core/profile.js';
import { type ColumnMap, isColumn, parseColumnMap } from '../../csv/columns.js';
import type { KeptColumns } from '../../csv/kept-columns.js';
import { type ColumnWish, headerHash } from '../../csv/mapping.js';
import { type MemberTable, readMemberTable } from '../../csv/member-table.js';
import { openSource } from '../../csv/open.js';
import type { FoundColumns } from '../../csv/row.js';
import type { TakenRow } from '../../csv/take-rows.js';
import type { RealmLedger } from '../../ledger/index.js';
import type { PlanOptions } from '../../planning/pass.js';
import { type Plan, planFaults, planGiven, planSource } from '../../planning/plan.js';
import { keptNotes } from './kept-notes.js';

/** What a plan is made of: a file with what is said of its columns, or rows of a program. */
export type PlannedFile = {
  readonly file: string;
  readonly stdin?: Readable;
  readonly map: readonly string[];
  /** The physical line of the header; null: the first that is not blank. */
  readonly headerLine?: number | null;
  /** The file of a table that turns wallets and handles into member ids. */
  readonly members?: { readonly file: string; readonly name?: string } | null;
  /** What was kept under the header is not taken, and forgotten. */
  readonly forgetColumns?: boolean;
  /** The realm whose kept mappings count, where it is not the one that is planned for: a rehearsal has none. */
  readonly columnsOf?: RealmLedger | null;
};

/** Rows of a program, with a name for people. */
export type GivenRows = { readonly rows: readonly TakenRow[]; readonly name: string };

export async function planInput(input: PlannedFile | GivenRows, options: PlanOptions): Promise<Plan> {
  if ('rows' in input) return planGiven(input.name, input.rows, options);
  const source = await openSource(input.file, input.stdin === undefined ? {} : { stdin: input.stdin });
  try {
    const wish = wishOf(input, options.profile, input.columnsOf ?? options.ledger);
    const table = await tableOf(input);
    if (table !== null && 'faults' in table) return planFaults(source.name, table, options);
    return await planSource(source, { ...options, wish, table });
  } finally {
    await source.close();
  }
}

async function tableOf({
  members,
}: PlannedFile): Promise<MemberTable | null | { faults: Plan['totals']['faults'] }> {
  if (members == null) return null;
  const source = await openSource(members.file);
  try {
    return await readMemberTable({ ...source, name: members.name ?? source.name });
  } finally {
    await source.close();
  }
}

function wishOf(
  { map, headerLine = null, forgetColumns = false }: PlannedFile,
  { columns }: RealmProfile,
  ledger: RealmLedger,
): ColumnWish {
  const notes = keptNotes(ledger);
  return {
    map: parseColumnMap(map),
    headerLine,
    usual: mapOf(columns),
    kept: (headers) =>
      Promise.all(
        headers.map(async (header): Promise<KeptColumns | null> => {
          if (forgetColumns) await notes.forget(header);
          const note = forgetColumns ? null : await notes.get(header);
          return note && { ...note, map: mapOf(note.map) };
        }),
      ),
  };
}

function mapOf(said: Readonly<Record<string, string>>): ColumnMap {
  return new Map(
    Object.entries(said).flatMap(([column, name]) => (isColumn(column) ? [[column, name]] : [])),
  );
}

/** Keeps what was said of a file's columns under its header: the next file with the same one is taken so. */
export async function keepColumns(
  ledger: RealmLedger,
  found: FoundColumns | null,
  by: { readonly who: string; readonly at: number },
): Promise<void> {
  if (found === null || found.said === null) return;
  const map = Object.fromEntries(found.said);
  await keptNotes(ledger).put(headerHash(found.columns.map(({ name }) => name)), { map, ...by });
}
