import type { MemberId } from '../core/ids.js';
import { OPS, type Op, type Order } from '../core/order.js';
import type { SignedTokens } from '../core/points.js';
import type { Column } from './columns.js';
import { type CellFault, trimBlanks } from './member-cell.js';
import { show } from './visible.js';

/** Reads an op cell; null where it is empty, and then recipient and sign decide. */
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

export type OpFault = CellFault & { readonly column: Column };

export type OrderParts = {
  readonly op: Op | null;
  readonly member: MemberId;
  readonly recipient: MemberId | null;
  readonly tokens: SignedTokens;
  /** Whether the file has a recipient column at all: then an empty cell may be a forgotten one. */
  readonly recipientColumn: boolean;
};

/** Which order a row means, once each cell is right by itself; or the contradiction between its cells. */
export function decideOrder(parts: OrderParts): Order | OpFault {
  const { member, recipient, tokens } = parts;
  const op = parts.op ?? (recipient !== null ? 'transfer' : tokens.negative ? 'debit' : 'credit');
  if (op === 'transfer') {
    if (recipient === null)
      return fault(
        'recipient',
        'ALM_ROW_RECIPIENT_MISSING',
        'A transfer needs a recipient; the cell is empty.',
      );
    if (sameId(member, recipient))
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

/** `007` and `7` are different texts; should the realm read both as a number, they are one member. */
function sameId(a: string, b: string): boolean {
  return a === b || a.replace(/^0+/, '') === b.replace(/^0+/, '');
}

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
