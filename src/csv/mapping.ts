import { createHash } from 'node:crypto';
import type { Column } from '../core/columns.js';
import { type ColumnMap, columnLike, columnNamed, headerKey, ownColumnNamed } from './columns.js';
import { DELIMITERS, type Head, type HeaderLine, headerCells, soundHeader } from './header.js';
import type { KeptColumns } from './kept-columns.js';
import type { IntakeLimits } from './open.js';
import { BrokenFile, type Delimiter } from './row.js';

/**
 * Which line of a file is its header, and what the columns of that header mean where their names do not say it: what
 * the operator says now; then what was said of the same header before and kept; then what the realm's profile says.
 */
export type ColumnWish = {
  readonly map: ColumnMap;
  /** The physical line of the header; null: the first that is not blank. */
  readonly headerLine: number | null;
  /** What was kept under headers, asked for by their keys; an answer for each. */
  readonly kept: (headers: readonly string[]) => Promise<readonly (KeptColumns | null)[]>;
  readonly usual: ColumnMap;
};

export const NO_WISH: ColumnWish = {
  map: new Map(),
  headerLine: null,
  kept: (headers) => Promise.resolve(headers.map(() => null)),
  usual: new Map(),
};

export type ChosenColumns = {
  readonly header: HeaderLine;
  /** What is said now. */
  readonly map: ColumnMap;
  /** Said before of the same header, of what nothing is said now. */
  readonly kept: KeptColumns | null;
  /** What the profile says of what is left. */
  readonly usual: ColumnMap;
  /** The line of a header that was kept, and is not taken because lines above it can be rows. */
  readonly keptBelow: number | null;
  /** Somebody says something of it now. */
  readonly said: boolean;
};

export async function chooseColumns(
  head: Head,
  { map, headerLine, kept, usual }: ColumnWish,
  limits: Pick<IntakeLimits, 'recordBytesMax'>,
): Promise<ChosenColumns> {
  const named = headerLine === null ? head.first : recordAt(head, headerLine);
  const said = map.size > 0 || headerLine !== null;
  const candidates = headerLine === null ? head.records.slice(0, TITLE_RECORDS_MAX + 1) : [named];
  const keys = candidates.flatMap((header) => splitsOf(header).map((names) => ({ header, names })));
  const answers = await kept(keys.map(({ names }) => headerHash(names)));
  const at = answers.findIndex((answer) => answer !== null);
  const found = keys[at]?.header ?? null;
  const isTaken = found !== null && (headerLine !== null || standsBelowTitle(head, found));
  const known = isTaken ? (answers[at] ?? null) : null;
  const header = soundHeader(isTaken ? found : named, limits);
  const taken = new Set(filled([...map.values()]).map(headerKey));
  const rest = [...(known?.map ?? [])].filter(
    ([column, name]) => !map.has(column) && !taken.has(headerKey(name)),
  );
  const keptBelow = isTaken || found === null ? null : found.line;
  return { header, map, kept: known && { ...known, map: new Map(rest) }, keptBelow, usual, said };
}

/**
 * What stands above a header that was kept is left out without a question. A row has a member and tokens, so only lines
 * with a single cell, by whatever delimiter, can be no rows.
 */
function standsBelowTitle({ records }: Head, header: HeaderLine): boolean {
  return records
    .filter(({ line }) => line < header.line)
    .every((above) => {
      const splits = splitsOf(above);
      const isWhole = splits.length === delimitersOf(above).length;
      return isWhole && splits.every((cells) => filled(cells).length < 2);
    });
}

/** A title has a few lines. */
const TITLE_RECORDS_MAX = 10;

type HeaderPlaces = {
  readonly line: number;
  readonly width: number;
  readonly columns: Readonly<Record<'member' | 'tokens', number>>;
};

/**
 * The lines above a header that can be rows: as many cells as the header, something where the member stands and a
 * digit where the tokens stand. What the member's cell looks like says nothing: handles and wallets are members too.
 */
export function rowsAbove({ records }: Head, { line, width, columns }: HeaderPlaces): number[] {
  const isRow = (cells: readonly string[]) =>
    cells.length >= width &&
    (cells[columns.member] ?? '').trim() !== '' &&
    /\p{N}/u.test(cells[columns.tokens] ?? '');
  return records
    .filter((record) => record.line < line && splitsOf(record).some(isRow))
    .map((record) => record.line);
}

function filled(cells: readonly string[]): string[] {
  return cells.filter((cell) => cell.trim() !== '');
}

/** A record by each delimiter that it may have: which one it is depends on the names that are looked for. */
function splitsOf(record: HeaderLine): string[][] {
  return delimitersOf(record).flatMap((one) => {
    const cells = headerCells(record.text, one);
    return cells === undefined ? [] : [cells];
  });
}

function delimitersOf({ delimiter }: HeaderLine): readonly Delimiter[] {
  return delimiter === null ? DELIMITERS : [delimiter];
}

export function isKnown(name: string): boolean {
  return columnNamed(name) !== undefined || columnLike(name) !== undefined;
}

function recordAt({ records }: Head, line: number): HeaderLine {
  const found = records.find((record) => record.line === line);
  if (found !== undefined) return found;
  throw new BrokenFile(
    'ALM_FILE_HEADER_LINE',
    line,
    `No row begins on line ${line} among the first ${records.length} of the file, so that it cannot be the header. The first begins on line ${records[0]?.line}.`,
  );
}

/** What a header is kept under: its names in any order, without the columns that our own reports add. */
export function headerHash(names: readonly string[]): string {
  const own = names.filter((name) => ownColumnNamed(name) === undefined).map(headerKey);
  return createHash('sha256').update(JSON.stringify(own.sort())).digest('base64url').slice(0, 22);
}

/** The line below the header that has columns for a member and for tokens, where the header itself has not. */
export function headerBelow({ records }: Head, line: number, map: ColumnMap): number | null {
  const mapped = new Map([...map].map(([column, name]) => [headerKey(name), column]));
  const meaningOf = (name: string): Column | undefined =>
    mapped.get(headerKey(name)) ?? columnNamed(name) ?? columnLike(name);
  const found = records.find((record) => {
    if (record.line <= line) return false;
    return splitsOf(record).some((names) => {
      const meanings = names.map(meaningOf);
      return meanings.includes('member') && meanings.includes('tokens');
    });
  });
  return found?.line ?? null;
}
