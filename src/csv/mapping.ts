import { createHash } from 'node:crypto';
import type { Column } from '../core/columns.js';
import { type ColumnMap, columnLike, columnNamed, headerKey, ownColumnNamed } from './columns.js';
import { DELIMITERS, type Head, type HeaderLine, headerCells, soundHeader } from './header.js';
import type { KeptColumns } from './kept-columns.js';
import type { IntakeLimits } from './open.js';
import { BrokenFile, type Delimiter } from './row.js';

/**
 * How the operator wants the columns read. Sources apply in this order: the operator's options for this file, a mapping
 * kept for the same header, and the realm's profile. The columns' own names decide the rest.
 */
export type ColumnOptions = {
  readonly map: ColumnMap;
  /** The physical line of the header. Null: the first line that is not blank. */
  readonly headerLine: number | null;
  /** Looks up the mappings kept for some headers by their keys; returns one result per key. */
  readonly kept: (headers: readonly string[]) => Promise<readonly (KeptColumns | null)[]>;
  readonly usual: ColumnMap;
};

export const NO_COLUMN_OPTIONS: ColumnOptions = {
  map: new Map(),
  headerLine: null,
  kept: (headers) => Promise.resolve(headers.map(() => null)),
  usual: new Map(),
};

/** The header line and the mappings that apply to a file. */
export type ChosenColumns = {
  readonly header: HeaderLine;
  /** The mapping that the operator gives now. */
  readonly map: ColumnMap;
  /** The kept mapping of the same header, without the columns that the operator maps now. */
  readonly kept: KeptColumns | null;
  /** The profile's mapping for the remaining columns. */
  readonly usual: ColumnMap;
  /** The line of a header with a kept mapping that is not used, because lines above it may be rows. */
  readonly keptBelow: number | null;
  /** True if the operator gave a mapping or a header line for this file. */
  readonly said: boolean;
};

/** Chooses the header line and the mappings for a file. */
export async function chooseColumns(
  head: Head,
  { map, headerLine, kept, usual }: ColumnOptions,
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
 * True if all lines above a kept header are titles, so that they can be skipped without asking. A row has a member
 * and tokens, so only a line with a single cell, under every possible delimiter, cannot be a row.
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

/** A title has at most this many lines. */
const TITLE_RECORDS_MAX = 10;

type HeaderPosition = {
  readonly line: number;
  readonly width: number;
  readonly columns: Readonly<Record<'member' | 'tokens', number>>;
};

/**
 * The lines above a header that may be rows: as many cells as the header, a filled member cell and a digit in the
 * tokens cell. The form of the member cell is ignored, because handles and wallets are members too.
 */
export function rowsAbove({ records }: Head, { line, width, columns }: HeaderPosition): number[] {
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

/** Splits a record by each possible delimiter. Which one applies depends on the names that the caller looks for. */
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
    `No row begins on line ${line} among the first ${records.length} of the file, so it cannot be the header. The first row begins on line ${records[0]?.line}.`,
  );
}

/**
 * The key under which a mapping is kept: the header's names in any order, without the columns that almoner's reports
 * add.
 */
export function headerHash(names: readonly string[]): string {
  const own = names.filter((name) => ownColumnNamed(name) === undefined).map(headerKey);
  return createHash('sha256').update(JSON.stringify(own.sort())).digest('base64url').slice(0, 22);
}

/** Finds a later line that has columns for member and tokens, if the header itself has none. */
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
