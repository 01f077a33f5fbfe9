import { setImmediate as turn } from 'node:timers/promises';
import type { MemberId } from '../core/ids.js';

/** One member of the audience, with its further columns. */
export type AudienceRow = {
  readonly member: MemberId;
  /** The line in the file with the members. */
  readonly line: number;
  readonly cells: readonly string[];
};

/** An audience with all its members. */
export type Audience = {
  /** The name of the file with the members, for people. */
  readonly file: string;
  /** The columns as spelt, including `member`. */
  readonly columns: readonly string[];
  readonly rows: readonly AudienceRow[];
  readonly checkWallets: boolean;
  /** The hash of columns, members and cells in their order. */
  readonly hash: string;
};

export const AUDIENCE_MEMBERS_MAX = 1_000_000;

/** The position of the column `wallet`, or -1. */
export function walletColumn(columns: readonly string[]): number {
  return columns.findIndex((column) => column.trim().toLowerCase() === 'wallet');
}

/** The wallet to check for a member, if the audience asks for that. */
export function walletOf(audience: Omit<Audience, 'rows'>, row: AudienceRow): string | null {
  if (!audience.checkWallets) return null;
  return (row.cells[walletColumn(audience.columns)] ?? '').trim();
}

/**
 * An audience outside of the thread that reads or judges it: slices of rows, each one a single text. A million
 * members are then two thousand strings. As millions of objects they would keep the garbage collector busy, and the
 * process would not answer meanwhile.
 */
export type PackedAudience = Omit<Audience, 'rows'> & {
  readonly members: number;
  readonly slices: readonly string[];
};

/** Members processed without a pause: a few milliseconds. */
const SLICE_MEMBERS = 500;

export function slicesOf(members: number): number {
  return Math.ceil(members / SLICE_MEMBERS);
}

export function packSlice(rows: readonly AudienceRow[], slice: number): string {
  return JSON.stringify(rows.slice(slice * SLICE_MEMBERS, (slice + 1) * SLICE_MEMBERS));
}

/** Parses a slice that `packSlice` made. Slices never leave the process, so they need no validation. */
export function unpackSlice(slice: string): AudienceRow[] {
  return JSON.parse(slice);
}

/** Packs an audience into slices for transfer between threads. */
export function packAudience({ rows, ...audience }: Audience): PackedAudience {
  const slices = Array.from({ length: slicesOf(rows.length) }, (_, slice) => packSlice(rows, slice));
  return { ...audience, members: rows.length, slices };
}

/** Yields all rows, slice by slice. Before each slice the process gets a turn for its other work. */
export async function* rowsOf({
  slices,
}: Pick<PackedAudience, 'slices'>): AsyncGenerator<AudienceRow[], void, undefined> {
  for (const slice of slices) {
    await turn();
    yield unpackSlice(slice);
  }
}

/** The member at this index of the audience, counted from 0. */
export function memberAt({ slices }: PackedAudience, index: number): string {
  const slice = slices[Math.floor(index / SLICE_MEMBERS)];
  return slice === undefined ? '' : (unpackSlice(slice)[index % SLICE_MEMBERS]?.member ?? '');
}
