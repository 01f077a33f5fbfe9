import type { Column } from '../core/columns.js';
import { undefuse } from '../core/formula-cells.js';
import { type MemberId, type OrderId, orderId, parseOrderId } from '../core/ids.js';
import { originHash } from '../core/member-keys.js';
import { OPS, type Op, type Order } from '../core/order.js';
import type { SignedTokens } from '../core/points.js';
import { hashRow } from '../core/reference.js';
import { show, textOf } from '../core/visible.js';
import {
  awardFault,
  type CellFault,
  type CellNote,
  readMemberCell,
  readReferenceCell,
  readTokensCell,
  trimBlanks,
} from './cells.js';
import type { MemberTable } from './member-table.js';
import { hasSurplus, recordFaults } from './records.js';
import type { Row, RowNote } from './row.js';
import type { Shape } from './shape.js';

/** The rules that depend on the run: realms, currency, cap and member table. */
export type RowRules = {
  /** The accepted contents of a `realm` cell: the profile's name and the realm's id. */
  readonly realms: readonly string[];
  /** The accepted content of a `currency` cell. Null: the realm's default currency, which has no name. */
  readonly currency: string | null;
  readonly maxTokensPerOrder: number | null;
  /** Translates wallets and handles in the member columns into ids. */
  readonly members?: MemberTable | null;
};

/** The shape of the file and the rules by which its rows are read. */
export type RowReading = { readonly shape: Shape; readonly rules: RowRules };

/** Reads one record into a row. It finds all faults of the row, not only the first. */
export function readRow({ shape, rules }: RowReading, line: number, record: string[], flaw: number): Row {
  const findings = recordFaults(shape.names, line, record, flaw);
  const at = shape.columns;
  for (let index = 0; index < record.length; index++) record[index] = undefuse(record[index] ?? '');
  const cells = fitCells(shape, record);
  // If cells may have shifted, every cell would have a fault. The fault about the row's length is enough.
  if (findings.length > 0) return { kind: 'invalid', line, findings, cells };

  const cell = (index: number) => (index === -1 ? '' : (record[index] ?? ''));
  /** Returns the value; if it is a fault, records it and returns undefined. */
  const good = <T>(column: Column | 'almoner_order', read: T | CellFault): T | undefined => {
    if (!isFault(read)) return read;
    const name = column === 'almoner_order' ? column : nameOfColumn(shape, column);
    findings.push({ line, column: name, code: read.code, message: read.message });
    return undefined;
  };

  let notes: RowNote[] | undefined;
  const noting = (column: Column) => (note: CellNote, read: string) => {
    notes ??= [];
    notes.push({ note, read, column: nameOfColumn(shape, column), cell: cell(at[column]) });
  };
  const { members } = rules;
  const readMember = (column: 'member' | 'recipient') =>
    members == null
      ? readMemberCell(cell(at[column]), noting(column))
      : members.find(cell(at[column]), noting(column));
  const member = good('member', readMember('member'));
  const tokens = good('tokens', readTokensCell(cell(at.tokens), rules.maxTokensPerOrder, noting('tokens')));
  const op = good('op', readOpCell(cell(at.op)));
  // An empty recipient is not an invalid id: op and sign decide its meaning.
  const recipient = good('recipient', cell(at.recipient).trim() === '' ? null : readMember('recipient'));
  const reference = good('reference', readReferenceCell(cell(at.reference)));
  const replaces = good('almoner_order', readOrderCell(cell(at.order)));
  if (at.realm !== -1) good('realm', realmFault(cell(at.realm).trim(), rules.realms));
  good('currency', currencyFault(cell(at.currency).trim(), rules.currency));

  if (member !== undefined && tokens !== undefined && op !== undefined && recipient !== undefined) {
    const decided = decideOrder({ op, member, recipient, tokens, recipientColumn: at.recipient !== -1 });
    const order = good<Order>('column' in decided ? decided.column : 'op', decided);
    if (order !== undefined && typeof reference === 'string')
      good('reference', awardFault(reference, order, replaces !== null));
    if (findings.length === 0 && order !== undefined && reference !== undefined && replaces !== undefined) {
      const reason = textOf(cell(at.reason)).trim() || null;
      const hashes = hashRow({ order, reference });
      const origin = members == null ? undefined : originHash(order, cell(at.member), cell(at.recipient));
      const row = { kind: 'order', line, order, reference, reason, replaces, hashes, cells } as const;
      return { ...row, ...(notes && { notes }), ...(origin && { origin }) };
    }
  }
  return { kind: 'invalid', line, findings, cells };
}

function isFault(read: unknown): read is CellFault {
  return typeof read === 'object' && read !== null && 'code' in read;
}

/** The cells of a record that belong to the sheet: own report columns removed, length as the header's. */
function fitCells(shape: Shape, record: string[]): string[] {
  const width = shape.names.length;
  if (record.length === width && shape.kept.length === width) return record;
  const cells = shape.kept.map((index) => record[index] ?? '');
  if (hasSurplus(shape.names, record) && cells.length > 0)
    cells[cells.length - 1] = [cells.at(-1), ...record.slice(width)].join(shape.sheet.delimiter);
  return cells;
}

function readOrderCell(cell: string): OrderId | null | CellFault {
  const text = cell.trim();
  if (text === '') return null;
  const parsed = parseOrderId(text);
  if (parsed !== undefined) return orderId(parsed.batch, parsed.index);
  return {
    code: 'ALM_ROW_ORDER_INVALID',
    message: `${show(text)} is not an order’s id; leave the cell as the report wrote it, or clear it.`,
  };
}

function realmFault(text: string, realms: readonly string[]): CellFault | null {
  if (realms.includes(text)) return null;
  const found = text === '' ? 'The realm is empty' : `The row is for realm ${show(text)}`;
  return { code: 'ALM_ROW_REALM_OTHER', message: `${found}; this run is for ${realms.join(' = ')}.` };
}

/** An empty cell makes no claim about the currency, so it passes. */
function currencyFault(text: string, currency: string | null): CellFault | null {
  if (text === '' || text === currency) return null;
  const run =
    currency === null
      ? 'this run is in the realm’s default currency (its profile has no realmPointId)'
      : `this run is in ${show(currency)}`;
  return { code: 'ALM_ROW_CURRENCY_OTHER', message: `The row is in currency ${show(text)}; ${run}.` };
}

function nameOfColumn(shape: Shape, column: Column): string {
  return shape.names[shape.columns[column]] ?? column;
}

/** Reads an op cell. Null if it is empty; recipient and sign then decide. */
export function readOpCell(cell: string): Op | null | CellFault {
  const text = trimBlanks(cell).toLowerCase();
  if (text === '') return null;
  return (
    OPS.find((op) => op === text) ?? {
      code: 'ALM_ROW_OP_UNKNOWN',
      message: `${show(cell)} is not an op; expected credit, debit, transfer, or an empty cell.`,
    }
  );
}

type OpFault = CellFault & { readonly column: Column };

type OrderParts = {
  readonly op: Op | null;
  readonly member: MemberId;
  readonly recipient: MemberId | null;
  readonly tokens: SignedTokens;
  /** True if the file has a recipient column. An empty cell may then be a forgotten one. */
  readonly recipientColumn: boolean;
};

/** Decides which order a row means after each cell is valid, or returns the contradiction between its cells. */
function decideOrder(parts: OrderParts): Order | OpFault {
  const { member, recipient, tokens } = parts;
  const op = parts.op ?? (recipient !== null ? 'transfer' : tokens.negative ? 'debit' : 'credit');
  if (op === 'transfer') {
    if (recipient === null)
      return fault(
        'recipient',
        'ALM_ROW_RECIPIENT_MISSING',
        'A transfer needs a recipient; the cell is empty.',
      );
    if (member === recipient)
      return fault('recipient', 'ALM_ROW_SELF_TRANSFER', `Member and recipient are both ${member}.`);
    if (tokens.negative) return againstSign(op, tokens);
    return { op, member, recipient, tokens: tokens.amount };
  }
  if (recipient !== null)
    return fault(
      'recipient',
      'ALM_ROW_RECIPIENT_UNEXPECTED',
      `The op is ${op} and the recipient is ${recipient}; expected an empty recipient, or transfer as the op.`,
    );
  if (parts.op === null && parts.recipientColumn)
    return fault(
      'recipient',
      'ALM_ROW_RECIPIENT_MISSING',
      'The recipient is empty in a file of transfers; fill it in, or write credit or debit into an op column.',
    );
  if (op === 'credit' && tokens.negative) return againstSign(op, tokens);
  return { op, member, recipient: null, tokens: tokens.amount };
}

/** Explains an amount whose sign contradicts the op, and how to write what was probably meant. */
function againstSign(op: Op, tokens: SignedTokens): OpFault {
  const hint = op === 'credit' ? 'write debit to subtract' : 'exchange member and recipient to turn it round';
  return fault(
    'tokens',
    'ALM_ROW_OP_AGAINST_SIGN',
    `A ${op} takes a positive amount, got -${tokens.amount}; ${hint}.`,
  );
}

function fault(column: Column, code: OpFault['code'], message: string): OpFault {
  return { column, code, message };
}
