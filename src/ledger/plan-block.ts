import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { ErrorCode } from '../core/errors/catalogue.js';
import { isErrorCode } from '../core/errors/catalogue.js';
import { isMemberId, type OrderId, parseOrderId } from '../core/ids.js';
import { OPS, type Order } from '../core/order.js';
import { isTokens } from '../core/points.js';

/**
 * The plan of a batch: immutable blocks of rows, compressed, with the original cells. A block is a JSON
 * list of rows, each a list; the parsed values repeat the cells, which the compressor takes for almost
 * nothing.
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
  /** For an undo row: where the reference of the undone order is kept, and by whom. */
  readonly undoes: {
    readonly shard: string;
    readonly fieldHex: string;
    readonly no: string;
    readonly index: string;
  } | null;
};

export function encodePlanBlock(rows: readonly PlanRow[]): Buffer {
  const packed = rows.map((row) => {
    const rare = {
      ...(row.fault && { f: [row.fault.code, row.fault.message] }),
      ...(row.duplicateOf && { d: row.duplicateOf }),
      ...(row.replaces && { r: row.replaces }),
      ...(row.undoes && { u: row.undoes }),
    };
    return [
      row.line,
      row.order === null
        ? 0
        : [OPS.indexOf(row.order.op), row.order.member, row.order.recipient ?? 0, row.order.tokens],
      row.reference ?? 0,
      row.reason ?? 0,
      row.cells,
      ...(Object.keys(rare).length > 0 ? [rare] : []),
    ];
  });
  return deflateRawSync(JSON.stringify(packed), { level: 6 });
}

const packedRow = z.tuple(
  [
    z.number(),
    z.union([
      z.literal(0),
      z.tuple([z.number(), z.string(), z.union([z.string(), z.literal(0)]), z.number()]),
    ]),
    z.union([z.string(), z.literal(0)]),
    z.union([z.string(), z.literal(0)]),
    z.array(z.string()),
  ],
  z.object({
    f: z.tuple([z.string(), z.string()]).optional(),
    d: z.string().optional(),
    r: z.string().optional(),
    u: z.object({ shard: z.string(), fieldHex: z.string(), no: z.string(), index: z.string() }).optional(),
  }),
);
const packedRows = z.array(packedRow);

export function decodePlanBlock(bytes: Buffer): PlanRow[] {
  const parsed = packedRows.parse(JSON.parse(inflateRawSync(bytes).toString('utf8')));
  return parsed.map(([line, order, reference, reason, cells, rare]) => ({
    line,
    order: order === 0 ? null : unpackOrder(order),
    reference: reference === 0 ? null : reference,
    reason: reason === 0 ? null : reason,
    cells,
    fault: rare?.f === undefined || !isErrorCode(rare.f[0]) ? null : { code: rare.f[0], message: rare.f[1] },
    duplicateOf: rare?.d ?? null,
    replaces: rare?.r === undefined ? null : unpackOrderId(rare.r),
    undoes: rare?.u ?? null,
  }));
}

/** Whether a member can stand in the block at all: a scan need not parse the blocks in which it cannot. */
export function mayMention(bytes: Buffer, member: string): boolean {
  return inflateRawSync(bytes).includes(`"${member}"`);
}

function unpackOrder([op, member, recipient, tokens]: [number, string, string | 0, number]): Order {
  const name = OPS[op];
  if (name === undefined || !isMemberId(member) || !isTokens(tokens))
    throw new Error('a plan block holds no order');
  if (name !== 'transfer') return { op: name, member, recipient: null, tokens };
  if (recipient === 0 || !isMemberId(recipient)) throw new Error('a planned transfer has no recipient');
  return { op: name, member, recipient, tokens };
}

function unpackOrderId(text: string): OrderId {
  if (parseOrderId(text) === undefined) throw new Error(`a plan block names no order: ${text}`);
  return text as OrderId;
}
