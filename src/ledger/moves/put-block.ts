import { z } from 'zod';
import { type BatchId, parseOrderId } from '../../core/ids.js';
import { digestOf, hashRow, REFERENCE_HASH_BYTES, type RowHashes } from '../../core/reference.js';
import { type AccountRange, accountRanges } from '../accounts.js';
import { PLAN_BLOCK_ROWS } from '../keys.js';
import { isPlannedOrder, type PlanRow, UNKNOWN_ROW } from '../plan-block.js';
import { type EarlierConflict, type EarlierOrder, earlierEntry } from '../read/earlier.js';
import { askScript, type RealmLedger } from '../realm-ledger.js';
import { encodeRecord, NEVER_SENT } from '../record.js';
import { parseHolder, REF_BYTES, type ReferenceHolder } from '../reference.js';
import { listFromLua } from '../script-client.js';

/** Writing one block of the immutable plan of a batch. */
export type BlockConflict =
  | {
      readonly kind: 'reference';
      readonly index: number;
      readonly holder: ReferenceHolder;
      readonly importing: boolean;
    }
  | EarlierConflict;

const conflictEntry = z.union([
  z.tuple([z.literal('ref'), z.string(), z.string(), z.string()]).transform(
    ([, index, holder, state]): BlockConflict => ({
      kind: 'reference',
      index: Number(index),
      holder: parseHolder(holder),
      importing: state === 'importing',
    }),
  ),
  earlierEntry,
]);

/** What a block takes when it is stored and gives back when it is dropped. */
export type BlockClaims = {
  /** References, packed: see put-block.lua. Half a million of them stay in memory between plan and import. */
  readonly refs: Buffer;
  /** References of rows that are duplicates because another order holds them, packed alike. */
  readonly held: Buffer;
  readonly replaces: readonly EarlierOrder[];
  readonly undoes: readonly EarlierOrder[];
  /** Rows that are no orders. */
  readonly records: readonly (readonly [index: number, record: string])[];
  readonly accounts: readonly AccountRange[];
};

export const NO_CLAIMS: BlockClaims = {
  refs: Buffer.alloc(0),
  held: Buffer.alloc(0),
  replaces: [],
  undoes: [],
  records: [],
  accounts: [],
};

export function blockClaims(
  firstIndex: number,
  rows: readonly PlanRow[],
  batchNumberOf: (batch: BatchId) => string | undefined,
  /** What is known of the row at this place already, so that it is not hashed again. */
  hashesAt: (offset: number) => RowHashes | undefined = () => undefined,
): BlockClaims {
  let [refs, held] = ['', ''];
  const replaces: EarlierOrder[] = [];
  const undoes: EarlierOrder[] = [];
  const records: [number, string][] = [];
  rows.forEach((row, offset) => {
    const index = firstIndex + offset;
    if (row.order === null) records.push([index, INVALID_RECORD]);
    else if (row.duplicateOf !== null) records.push([index, DUPLICATE_RECORD]);
    else if (row.undoes !== null) undoes.push([row.undoes.no, row.undoes.index, String(index)]);
    if (row.order !== null && row.reference !== null) {
      const { reference, content } =
        hashesAt(offset) ?? hashRow({ order: row.order, reference: row.reference });
      const packed = String.fromCharCode(offset) + reference + digestOf(content);
      if (row.duplicateOf === null) refs += packed;
      else if (parseOrderId(row.duplicateOf) !== undefined) held += packed;
    }
    const old = row.replaces === null || !isPlannedOrder(row) ? undefined : parseOrderId(row.replaces);
    const oldNo = old && batchNumberOf(old.batch);
    if (old && oldNo !== undefined) replaces.push([oldNo, String(old.index), String(index), old.batch]);
  });
  return {
    refs: Buffer.from(refs, 'latin1'),
    held: Buffer.from(held, 'latin1'),
    replaces,
    undoes,
    records,
    accounts: accountRanges(firstIndex, rows),
  };
}

/** Of a block, without rows that the batch has already; `at` are the rows of the block, `first` the index of its first. */
export function withoutRows(
  claims: BlockClaims,
  { first, rows }: { readonly first: number; readonly rows: readonly PlanRow[] },
  indexes: ReadonlySet<number>,
): BlockClaims {
  const isLeft = (index: number) => !indexes.has(index);
  return {
    refs: leftOf(claims.refs, first, isLeft),
    held: leftOf(claims.held, first, isLeft),
    replaces: claims.replaces.filter(([, , row]) => isLeft(Number(row))),
    undoes: claims.undoes.filter(([, , row]) => isLeft(Number(row))),
    records: claims.records.filter(([index]) => isLeft(index)),
    accounts: accountRanges(first, except(rows, first, indexes)),
  };
}

/** The same with rows that became duplicates; of the accounts of rules those that the batch has already hold their part themselves. */
export function leftOut(
  claims: BlockClaims,
  { first, rows }: { readonly first: number; readonly rows: readonly PlanRow[] },
  duplicates: ReadonlySet<number>,
  takenOver: ReadonlySet<number>,
): BlockClaims {
  const left = [...duplicates].map((index) => [index, DUPLICATE_RECORD] as const);
  return {
    ...claims,
    replaces: claims.replaces.filter(([, , row]) => !duplicates.has(Number(row))),
    records: [...claims.records, ...left],
    accounts: accountRanges(first, except(rows, first, takenOver)),
  };
}

/** The rows of a block, with nothing in the places of some of them. */
function except(rows: readonly PlanRow[], first: number, indexes: ReadonlySet<number>): readonly PlanRow[] {
  return rows.map((row, offset) => (indexes.has(first + offset) ? UNKNOWN_ROW : row));
}

/** Packed references, without those of some rows. */
function leftOf(packed: Buffer, first: number, isLeft: (index: number) => boolean): Buffer {
  const left: Buffer[] = [];
  for (let at = 0; at < packed.length; at += REF_BYTES)
    if (isLeft(first + packed.readUInt8(at))) left.push(packed.subarray(at, at + REF_BYTES));
  return Buffer.concat(left);
}

const INVALID_RECORD = encodeRecord({ ...NEVER_SENT, code: 'i' });
const DUPLICATE_RECORD = encodeRecord({ ...NEVER_SENT, code: 'd' });

export async function putBlock(
  ledger: RealmLedger,
  at: { no: string; importer: string; block: number },
  bytes: Buffer,
  claims: BlockClaims,
): Promise<'ok' | 'not-importer' | BlockConflict[]> {
  const { refs, replaces, undoes, records, accounts } = claims;
  const rare = replaces.length + undoes.length + records.length + accounts.length;
  const [status, conflicts] = await askScript(ledger, 'put-block', [
    at.no,
    at.importer,
    at.block,
    bytes,
    at.block * PLAN_BLOCK_ROWS + 1,
    refs,
    rare === 0 ? '' : JSON.stringify({ replaces, undoes, records, accounts }),
  ]);
  if (status === 'ok' || status === 'not-importer') return status;
  return listFromLua(conflicts ?? '[]').map((entry) => conflictEntry.parse(entry));
}

/** The references of a block, one by one. */
export function unpackRefs(
  refs: Buffer,
  firstIndex: number,
): [shard: string, fieldHex: string, index: number][] {
  const unpacked: [string, string, number][] = [];
  for (let at = 0; at < refs.length; at += REF_BYTES) {
    const shard = refs.toString('latin1', at + 1, at + 5);
    const field = refs.toString('hex', at + 5, at + 1 + REFERENCE_HASH_BYTES);
    unpacked.push([shard, field, firstIndex + refs.readUInt8(at)]);
  }
  return unpacked;
}
