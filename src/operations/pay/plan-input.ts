import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { RealmProfile } from '../../core/profile.js';
import { type ColumnMap, isColumn, parseColumnMap } from '../../csv/columns.js';
import type { KeptColumns } from '../../csv/kept-columns.js';
import { type ColumnOptions, headerHash } from '../../csv/mapping.js';
import { type MemberTable, readMemberTable } from '../../csv/member-table.js';
import { openSource } from '../../csv/open.js';
import type { TakenRow } from '../../csv/take-rows.js';
import type { RealmLedger } from '../../ledger/index.js';
import type { PlanOptions } from '../../planning/pass.js';
import { type Plan, planFaults, planGiven, planSource } from '../../planning/plan.js';
import type { App } from '../../runtime/app.js';
import { record, recordIn } from '../people/audit.js';
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

/** `app`: of the person who forgets columns, where the input says so. */
export async function planInput(
  input: PlannedFile | GivenRows,
  options: PlanOptions & { readonly app: App },
): Promise<Plan> {
  if ('rows' in input) return planGiven(input.name, input.rows, options);
  const source = await openSource(input.file, input.stdin === undefined ? {} : { stdin: input.stdin });
  try {
    const wish = wishOf(input, options.profile, input.columnsOf ?? options.ledger, options.app);
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
  app: App,
): ColumnOptions {
  const notes = keptNotes(ledger);
  return {
    map: parseColumnMap(map),
    headerLine,
    usual: mapOf(columns),
    async kept(headers) {
      const found = await Promise.all(headers.map((header) => notes.get(header)));
      if (!forgetColumns) return found.map((note) => note && { ...note, map: mapOf(note.map) });
      for (const header of headers) await notes.forget(header);
      const known = found.filter((note) => note !== null);
      const what = `forgot the columns kept in realm ${ledger.realm.name}: ${known.map(({ map }) => mapWords(map)).join('; ')}`;
      if (known.length > 0) await record(app, { what, why: null });
      return headers.map((): KeptColumns | null => null);
    },
  };
}

function mapWords(map: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(map).map(([column, name]) => `${column}=${name}`);
  return pairs.length === 0 ? 'the line of the header' : pairs.join(', ');
}

function mapOf(said: Readonly<Record<string, string>>): ColumnMap {
  return new Map(
    Object.entries(said).flatMap(([column, name]) => (isColumn(column) ? [[column, name]] : [])),
  );
}

/** Keeps what was said of a file's columns under its header: the next file with the same one is taken so. */
export async function keepColumns(
  ledger: RealmLedger,
  { found, source }: Pick<Plan, 'found' | 'source'>,
  who: string,
): Promise<void> {
  if (found === null || found.said === null) return;
  const map = Object.fromEntries(found.said);
  const notes = keptNotes(ledger);
  const header = headerHash(found.columns.map(({ name }) => name));
  const before = await notes.get(header);
  if (isDeepStrictEqual(before?.map, map)) return;
  // A person is named for what they said, and beside those who said the rest.
  const news = Object.fromEntries(
    Object.entries(map).filter(([column, name]) => before?.map[column] !== name),
  );
  const isAllNew = Object.keys(news).length === Object.keys(map).length;
  const people = isAllNew || before === null ? [who] : [...new Set([...before.who.split(' and '), who])];
  await notes.put(header, { map, who: people.join(' and '), at: Date.now() });
  const what = `kept the columns of ${source} in realm ${ledger.realm.name}: ${mapWords(news)}`;
  await recordIn(ledger.scripts, who, { what, why: null });
}
