import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { type ErrorCode, isErrorCode } from '../core/errors/catalogue.js';
import { isRecordedMemberId, type OrderId, parseOrderId } from '../core/ids.js';
import { OPS, type Order } from '../core/order.js';
import { isTokens } from '../core/points.js';

const undone = z.object({
  shard: z.string(),
  fieldHex: z.string(),
  no: z.string(),
  index: z.string(),
  account: z.string().optional(),
});

/**
 * The plan of a batch: immutable blocks of rows, compressed, with the original cells. A block is a JSON
 * list of rows, each a list; a parsed value that stands in a cell is only pointed at.
 */
export type PlanRow = {
  readonly line: number;
  /** Null for a row that was invalid and is only carried along. */
  readonly order: Order | null;
  readonly reference: string | null;
  readonly reason: string | null;
  readonly replaces: OrderId | null;
  readonly cells: readonly string[];
  /** Why the row is invalid, or the order that holds its reference when it is a duplicate. */
  readonly fault: { readonly code: ErrorCode; readonly message: string } | null;
  readonly duplicateOf: string | null;
  /**
   * For an undo row: which order it undoes, where that one's reference is kept (empty without one), and the account of
   * a rule that it passed.
   */
  readonly undoes: Readonly<z.infer<typeof undone>> | null;
};

/** A row that is paid by its own batch. */
export type PlannedOrder = PlanRow & { readonly order: Order };

export function isPlannedOrder(row: PlanRow): row is PlannedOrder {
  return row.order !== null && row.duplicateOf === null;
}

/** For ten kilobytes: a fifth of the default's time, mostly of making ready, for a byte a row more. */
const SMALL = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4096 };

export function encodePlanBlock(rows: readonly PlanRow[]): Buffer {
  // What zlib returns is a view of a whole chunk, however little it holds: copied, a million rows wait for their import
  // in 17 MB instead of 64.
  return Buffer.from(deflateRawSync(JSON.stringify(rows.map(packRow)), SMALL));
}

/** One row of a recovered batch, whose other rows nobody knows. */
export function encodeRow(row: PlanRow): string {
  return JSON.stringify(packRow(row));
}

export function decodeRow(text: string): PlanRow {
  return unpackRow(JSON.parse(text));
}

/** The block of such rows; null where none is known. */
export function blockOfRows(rows: readonly (string | null)[]): Buffer {
  return Buffer.from(deflateRawSync(`[${rows.map((row) => row ?? 'null').join(',')}]`, SMALL));
}

/** Stands where nobody knows the row of a recovered batch. */
export const UNKNOWN_ROW: PlanRow = {
  line: 0,
  order: null,
  reference: null,
  reason: null,
  replaces: null,
  cells: [],
  fault: null,
  duplicateOf: null,
  undoes: null,
};

/**
 * A value that stands in a cell as it is, is the number of that cell: half of the text to write, compress
 * and read again. Null is none; text is itself.
 */
type Packed = string | number | null;

function packRow(row: PlanRow): unknown[] {
  const { order, cells } = row;
  const packed: unknown[] = [
    row.line,
    order === null
      ? null
      : [OPS.indexOf(order.op), pack(order.member, cells), pack(order.recipient, cells), order.tokens],
    pack(row.reference, cells),
    pack(row.reason, cells),
    cells,
  ];
  const { fault, duplicateOf, replaces, undoes } = row;
  if (fault !== null || duplicateOf !== null || replaces !== null || undoes !== null)
    packed.push({
      ...(fault && { f: [fault.code, fault.message] }),
      ...(duplicateOf && { d: duplicateOf }),
      ...(replaces && { r: replaces }),
      ...(undoes && { u: undoes }),
    });
  return packed;
}

function pack(text: string | null, cells: readonly string[]): Packed {
  if (text === null) return null;
  const at = cells.indexOf(text);
  return at === -1 ? text : at;
}

const rareParts = z.object({
  f: z.tuple([z.string(), z.string()]).optional(),
  d: z.string().optional(),
  r: z.string().optional(),
  u: undone.optional(),
});

export function decodePlanBlock(bytes: Buffer): PlanRow[] {
  return new PlanText(bytes).rows();
}

/** A block as it is before it is parsed: a scan need not parse the blocks in which nothing of what it looks for stands. */
export class PlanText {
  private readonly inflated: Buffer;

  constructor(bytes: Buffer) {
    this.inflated = inflateRawSync(bytes);
  }

  /** Whether a member or a reference can stand in it. */
  mayMention(text: string): boolean {
    return this.inflated.includes(JSON.stringify(text));
  }

  /** Whether an amount can: it is the last value of an order. */
  mayAmountTo(tokens: number): boolean {
    return this.inflated.includes(`,${tokens}]`);
  }

  /** Whether a cell can hold this part, whatever its case. */
  mayHoldPart(text: string): boolean {
    const needle = JSON.stringify(text).slice(1, -1).toLowerCase();
    return this.inflated.toString('utf8').toLowerCase().includes(needle);
  }

  rows(): PlanRow[] {
    return parsePlanBlock(this.inflated);
  }
}

function parsePlanBlock(inflated: Buffer): PlanRow[] {
  const parsed: unknown = JSON.parse(inflated.toString('utf8'));
  if (!Array.isArray(parsed)) throw damaged();
  return parsed.map(unpackRow);
}

/** Checked by hand: a schema library took ten times as long, and a million rows pass here. */
function unpackRow(row: unknown): PlanRow {
  if (row === null) return UNKNOWN_ROW;
  if (!Array.isArray(row)) throw damaged();
  const [line, order, reference, reason, cells, rare]: unknown[] = row;
  if (typeof line !== 'number' || !isTexts(cells)) throw damaged();
  const parts = rare === undefined ? undefined : rareParts.parse(rare);
  const [code, message] = parts?.f ?? [];
  return {
    line,
    order: order === null ? null : unpackOrder(order, cells),
    reference: unpack(reference, cells),
    reason: unpack(reason, cells),
    cells,
    fault: code !== undefined && message !== undefined && isErrorCode(code) ? { code, message } : null,
    duplicateOf: parts?.d ?? null,
    replaces: parts?.r === undefined ? null : unpackOrderId(parts.r),
    undoes: parts?.u ?? null,
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((cell) => typeof cell === 'string');
}

function unpack(value: unknown, cells: readonly string[]): string | null {
  if (value === null || typeof value === 'string') return value;
  const text = typeof value === 'number' ? cells[value] : undefined;
  if (text === undefined) throw damaged();
  return text;
}

function unpackOrder(packed: unknown, cells: readonly string[]): Order {
  if (!Array.isArray(packed)) throw damaged();
  const [op, giver, taker, tokens]: unknown[] = packed;
  const name = typeof op === 'number' ? OPS[op] : undefined;
  const member = unpack(giver, cells);
  const recipient = unpack(taker, cells);
  if (name === undefined || member === null || !isRecordedMemberId(member)) throw damaged();
  if (typeof tokens !== 'number' || !isTokens(tokens)) throw damaged();
  if (name !== 'transfer') return { op: name, member, recipient: null, tokens };
  if (recipient === null || !isRecordedMemberId(recipient))
    throw new TypeError('a planned transfer has no recipient');
  return { op: name, member, recipient, tokens };
}

function unpackOrderId(text: string): OrderId {
  if (parseOrderId(text) === undefined) throw new TypeError(`a plan block names no order: ${text}`);
  return text as OrderId;
}

function damaged(): Error {
  return new TypeError('a plan block holds something that is no row');
}
