import { createHash } from 'node:crypto';
import { undefuse } from '../core/formula-cells.js';
import type { MemberId } from '../core/ids.js';
import { keyOf } from '../core/member-keys.js';
import { invisibleIn, show, textOf } from '../core/visible.js';
import { type CellFault, type OnNote, readMemberCell } from './cells.js';
import { columnLike, columnNamed, isKeyName, isWalletName } from './columns.js';
import { readHeaderLine, splitHeader } from './header.js';
import { INTAKE_LIMITS, type Source } from './open.js';
import { hasSurplus, isBlank, readRecords } from './records.js';
import { BrokenFile, type FileFaults, type Finding, ofFile } from './row.js';

/**
 * A table that turns wallets and handles into member ids, exactly one each. Keys are compared without case, without
 * the `@` before a handle and without surrounding blanks. A key that belongs to two members matches neither.
 */
const TABLE_ROWS_MAX = 1_000_000;
const FAULTS_MAX = 1_000;

type Entry = { readonly member: MemberId; readonly line: number; readonly wallet: boolean };

/** Finds member ids by wallet or handle. */
export class MemberTable {
  private readonly entries = new Map<string, Entry>();
  private readonly ambiguous = new Map<string, Entry>();
  private readonly ids = new Set<string>();
  /** Wallets that were looked up, as the file spells them, with their rows in the table. */
  readonly wallets = new Map<string, Entry>();

  constructor(
    /** The table's name in messages. */
    readonly name: string,
    /** The SHA-256 of the table's bytes. */
    readonly sha256: string,
  ) {}

  add(cell: string, entry: Entry): void {
    const key = keyOf(cell);
    this.ids.add(entry.member);
    if (key === '') return;
    const known = this.entries.get(key);
    if (known === undefined) this.entries.set(key, entry);
    else if (known.member !== entry.member) this.ambiguous.set(key, entry);
  }

  /** Finds the member of a wallet or handle. An id that the table contains stands for itself. */
  find(cell: string, onNote?: OnNote): MemberId | CellFault {
    const key = keyOf(cell);
    if (key === '')
      return {
        code: 'ALM_ROW_ID_INVALID',
        message: 'The cell is empty; expected a wallet, a handle or an id.',
      };
    const entry = this.entries.get(key);
    const other = this.ambiguous.get(key);
    const id = readMemberCell(cell, entry === undefined ? onNote : undefined);
    const own = typeof id === 'string' && this.ids.has(id) ? id : undefined;
    if (entry === undefined)
      return (
        own ?? {
          code: 'ALM_ROW_MEMBER_UNKNOWN',
          message: `${show(cell)} is not in ${this.name}; add it there with its member, or correct it.`,
        }
      );
    if (other === undefined && (own === undefined || own === entry.member)) {
      if (entry.wallet) this.wallets.set(textOf(cell.trim()).trim(), entry);
      return entry.member;
    }
    const second = other === undefined ? `${own} as an id` : `${other.member} (line ${other.line})`;
    return {
      code: 'ALM_ROW_MEMBER_AMBIGUOUS',
      message: `${show(cell)} stands for ${entry.member} (line ${entry.line}) and for ${second} in ${this.name}; keep only one of them.`,
    };
  }
}

/** Reads a member table from a CSV; returns its faults if it has any. */
export async function readMemberTable(source: Source): Promise<MemberTable | FileFaults> {
  const { name } = source;
  const faults: Finding[] = [];
  // The lines are those of the table, not of the file to pay, so each message names the table.
  const fault = (line: number, message: string) =>
    faults.push(ofFile('ALM_FILE_MEMBERS', `${name}, line ${line}: ${message}`));
  try {
    const digest = createHash('sha256');
    for await (const chunk of source.chunks()) digest.update(chunk);
    const table = new MemberTable(name, digest.digest('hex'));
    const head = await readHeaderLine(source.chunks(), INTAKE_LIMITS);
    const isMember = (column: string) => (columnNamed(column) ?? columnLike(column)) === 'member';
    const { delimiter, names } = splitHeader(head, (column) => isMember(column) || isKeyName(column));
    const [memberAt = -1, second] = memberColumns(names);
    const keys = keyColumns(names, memberAt);
    if (second !== undefined) {
      fault(
        head.line,
        `columns ${show(names[memberAt] ?? '')} and ${show(names[second] ?? '')} both mean the member; keep only one.`,
      );
      return { faults };
    }
    if (memberAt === -1 || keys.length === 0) {
      const lacks = memberAt === -1 ? 'member, which holds the ids' : 'wallet or handle';
      fault(
        head.line,
        `there is no column ${lacks}; the header has ${names.map((one) => show(one)).join(', ')}.`,
      );
      return { faults };
    }
    let rows = 0;
    const blocks = readRecords(source.chunks(), delimiter, INTAKE_LIMITS, (line, cells, flaw): null => {
      if (line <= head.line || isBlank(cells)) return null;
      rows += 1;
      const member = readMemberCell(undefuse(cells[memberAt] ?? ''));
      if (flaw !== 0 || cells.length < names.length || hasSurplus(names, cells))
        fault(line, 'the row does not have the cells of the header, or its quotes do not match.');
      else if (typeof member !== 'string') fault(line, member.message);
      else if (keys.some((at) => invisibleIn(cells[at] ?? '') !== undefined))
        fault(line, 'a wallet or handle holds a character that cannot be seen.');
      else
        for (const at of keys)
          table.add(undefuse(cells[at] ?? ''), { member, line, wallet: isWalletName(names[at] ?? '') });
      return null;
    });
    for await (const _ of blocks) {
      if (rows > TABLE_ROWS_MAX) fault(head.line, `it has more than ${TABLE_ROWS_MAX} rows.`);
      if (faults.length >= FAULTS_MAX || rows > TABLE_ROWS_MAX) break;
    }
    if (rows === 0) fault(head.line, 'there are no rows below the header.');
    return faults.length > 0 ? { faults } : table;
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    fault(error.finding.line, error.finding.message);
    return { faults };
  }
}

/** As in a file to pay, a column with an exact name takes precedence over columns with similar names. */
function memberColumns(names: readonly string[]): number[] {
  const found = (of: (name: string) => string | undefined) =>
    names.flatMap((name, at) => (of(name) === 'member' ? [at] : []));
  const named = found(columnNamed);
  return named.length > 0 ? named : found(columnLike);
}

/**
 * The columns that are named like keys. In a table of two columns, the one beside the ids counts, whatever its name.
 */
function keyColumns(names: readonly string[], memberAt: number): number[] {
  const others = names.flatMap((name, at) => (at === memberAt ? [] : [{ name, at }]));
  const called = others.filter(({ name }) => isKeyName(name));
  return (called.length === 0 && others.length === 1 ? others : called).map(({ at }) => at);
}
