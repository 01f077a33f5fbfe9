import { originHash } from '../core/member-keys.js';
import type { Order } from '../core/order.js';
import {
  type ContentWords,
  contentDigest,
  contentWords,
  digestOf,
  SKETCH_ROW_BYTES,
} from '../core/reference.js';
import { batchKeys } from './keys.js';
import type { PlanRow } from './plan-block.js';
import type { BatchPlace } from './realm-ledger.js';
import type { Manifest } from './views.js';

/**
 * The sketch of a batch is one word of each row's content. That of a batch whose members came from a table is followed by
 * two words of each row's content before the table was asked: under a corrected table the same row is another order, and
 * the same debt.
 */
const ORIGIN_BYTES = 8;

type SketchedRow = {
  readonly content: ContentWords | undefined;
  readonly origin: ContentWords | undefined;
};

/** The two parts of the sketch of a batch with so many rows; null for what it has not. */
export async function readSketches({ ledger: { scripts, keyPrefix }, no }: BatchPlace, rows: number) {
  const both = await scripts.ask('read sketch', (redis) => redis.getBuffer(batchKeys(keyPrefix, no).sketch));
  const end = rows * SKETCH_ROW_BYTES;
  const origins = both !== null && both.length >= end + rows * ORIGIN_BYTES ? both.subarray(end) : null;
  return {
    contents: both?.subarray(0, end) ?? null,
    /** The words of the origin of a row, by its index. */
    originOf:
      origins &&
      ((index: number): ContentWords => {
        const at = (index - 1) * ORIGIN_BYTES;
        return [origins.readUInt32LE(at), origins.readUInt32LE(at + 4)];
      }),
  };
}

/** Takes the rows in the file's order, some at a time. */
export class SketchWriter {
  private readonly contents: Buffer[] = [];
  private readonly origins: Buffer[] = [];

  constructor(private readonly hasTable: boolean) {}

  add(rows: readonly SketchedRow[]): void {
    const contents = Buffer.alloc(rows.length * SKETCH_ROW_BYTES);
    const origins = Buffer.alloc(this.hasTable ? rows.length * ORIGIN_BYTES : 0);
    for (const [at, { content, origin }] of rows.entries()) {
      contents.writeUInt32LE(content?.[0] ?? 0, at * SKETCH_ROW_BYTES);
      if (!this.hasTable) continue;
      origins.writeUInt32LE(origin?.[0] ?? 0, at * ORIGIN_BYTES);
      origins.writeUInt32LE(origin?.[1] ?? 0, at * ORIGIN_BYTES + 4);
    }
    this.contents.push(contents);
    this.origins.push(origins);
  }

  bytes(): Buffer {
    return Buffer.concat([...this.contents, ...this.origins]);
  }
}

/** The cells of a row that were looked up in the table: the member's and the recipient's. */
export function lookedUp(
  { member, recipient }: NonNullable<Manifest['table']>,
  { cells }: Pick<PlanRow, 'cells'>,
): [member: string, recipient: string] {
  return [cells[member] ?? '', cells[recipient] ?? ''];
}

/** The two words of a row as its batch's plan has it. */
export function originWords({ table }: Pick<Manifest, 'table'>, row: PlanRow): ContentWords | null {
  if (table === null || row.order === null) return null;
  return contentWords(originHash(row.order, ...lookedUp(table, row)));
}

/**
 * What two orders have in common that may be the same debt: their content, or what was looked up in two tables. The same
 * reference would have told it for sure, and two references are two debts.
 */
export type Debt = {
  readonly content: string;
  readonly origin: string | null;
  readonly hasReference: boolean;
  /** The batch whose orders are others for sure. */
  readonly notOf: string | null;
};

export function debtOf(
  order: Order,
  reference: string | null,
  cells: readonly [member: string, recipient: string] | null,
): Debt {
  const origin = cells === null ? null : digestOf(originHash(order, ...cells));
  return { content: contentDigest(order), origin, hasReference: reference !== null, notOf: null };
}
