import type { MemberId } from '../core/ids.js';

/** One member of the audience, with the columns that stand beside it. */
export type AudienceRow = {
  readonly member: MemberId;
  /** In the file that holds the members. */
  readonly line: number;
  readonly cells: readonly string[];
};

export type Audience = {
  /** The file that holds the members, for people. */
  readonly file: string;
  /** The columns, as spelt; `member` is one of them. */
  readonly columns: readonly string[];
  readonly rows: readonly AudienceRow[];
  readonly checkWallets: boolean;
  /** Of columns, members and cells in their order. */
  readonly hash: string;
};

export const AUDIENCE_MEMBERS_MAX = 1_000_000;

export function walletColumn(columns: readonly string[]): number {
  return columns.findIndex((column) => column.trim().toLowerCase() === 'wallet');
}

/** The wallet that is checked for a member, where the audience asks for it. */
export function walletOf(audience: Omit<Audience, 'rows'>, row: AudienceRow): string | null {
  if (!audience.checkWallets) return null;
  return (row.cells[walletColumn(audience.columns)] ?? '').trim();
}
