import { createHash } from 'node:crypto';
import type { Column } from '../core/columns.js';
import { type ColumnMap, columnLike, columnNamed, headerKey, ownColumnNamed } from './columns.js';
import { type Head, type HeaderLine, soundHeader, splitHeader } from './header.js';
import type { IntakeLimits } from './open.js';
import { BrokenFile, type TakenBy } from './row.js';

/**
 * Which line of a file is its header, and what the columns of that header mean where their names do not say it: what
 * the operator says now; else what was said of the same header before and kept; else what the realm's profile says.
 */
export type ColumnWish = {
  readonly map: ColumnMap;
  /** The physical line of the header; null: the first that is not blank. */
  readonly headerLine: number | null;
  /** What was kept under headers, asked for by their keys; an answer for each. */
  readonly kept: (headers: readonly string[]) => Promise<readonly (KeptColumns | null)[]>;
  readonly usual: ColumnMap;
};

export type KeptColumns = { readonly map: ColumnMap; readonly who: string; readonly at: number };

export const NO_WISH: ColumnWish = {
  map: new Map(),
  headerLine: null,
  kept: (headers) => Promise.resolve(headers.map(() => null)),
  usual: new Map(),
};

export type ChosenColumns = {
  readonly header: HeaderLine;
  /** Said now or kept. */
  readonly map: ColumnMap;
  readonly by: TakenBy;
  /** What the profile says of what is left. */
  readonly usual: ColumnMap;
  /** Somebody says something of it now. */
  readonly said: boolean;
  readonly kept: KeptColumns | null;
};

export async function chooseColumns(
  head: Head,
  { map, headerLine, kept, usual }: ColumnWish,
  limits: Pick<IntakeLimits, 'recordBytesMax'>,
): Promise<ChosenColumns> {
  const named = headerLine === null ? head.first : recordAt(head, headerLine);
  const said = map.size > 0 || headerLine !== null;
  const candidates = map.size > 0 ? [] : headerLine === null ? head.records : [named];
  const answers = await kept(candidates.map((record) => headerHash(splitHeader(record, isKnown).names)));
  const at = answers.findIndex((answer) => answer !== null);
  const known = answers[at] ?? null;
  const header = soundHeader(candidates[at] ?? named, limits);
  return known === null
    ? { header, map, by: 'said', usual, said, kept: null }
    : { header, map: known.map, by: 'kept', usual, said, kept: known };
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
    const meanings = splitHeader(record, (name) => meaningOf(name) !== undefined).names.map(meaningOf);
    return meanings.includes('member') && meanings.includes('tokens');
  });
  return found?.line ?? null;
}
