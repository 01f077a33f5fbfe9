import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AlmonerError } from '../../core/errors/error.js';
import { type BatchId, batchId, parseOrderId } from '../../core/ids.js';
import {
  CONTENT_DIGEST_CHARACTERS,
  hashRow,
  REFERENCE_HASH_BYTES,
  type RowHashes,
  referenceHash,
} from '../../core/reference.js';
import { type AccountRange, accountRanges } from '../accounts.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock, isPlannedOrder, type PlanRow } from '../plan-block.js';
import { batchSource, storeSource } from '../read/batch-source.js';
import { type EarlierConflict, type EarlierOrder, earlierEntry } from '../read/earlier-orders.js';
import type { RealmLedger } from '../realm-ledger.js';
import { parseHolder, type ReferenceHolder } from '../reference.js';
import { listFromLua, texts } from '../script-client.js';

/** Writing and reading the immutable plan of a batch. */

export type Opened = {
  readonly status: 'new' | 'taken-over' | 'sealed' | 'id-taken';
  readonly no: string;
  readonly id: BatchId;
};

/** What the same orders were called before the currency was part of a batch's identity. */
export type FormerIdentity = {
  readonly content: string;
  readonly id: BatchId;
  readonly currency: string | null;
};

export async function openBatch(
  ledger: RealmLedger,
  wanted: {
    content: string;
    id: BatchId;
    importer: string;
    createdAt: number;
    former?: FormerIdentity | null;
  },
): Promise<Opened> {
  const { former } = wanted;
  const reply = texts(
    await ledger.scripts.script('open-batch', ledger.keyPrefix, [
      wanted.content,
      wanted.id,
      wanted.importer,
      wanted.createdAt,
      former?.content ?? '',
      former?.id ?? '',
      former?.currency ?? '',
    ]),
  );
  const [status = '', no = '', id = ''] = reply;
  return { status: z.enum(['new', 'taken-over', 'sealed', 'id-taken']).parse(status), no, id: batchId(id) };
}

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

/** Of a row: where in its block it stands, its reference's hash and its content's digest. */
export const REF_BYTES = 1 + REFERENCE_HASH_BYTES + CONTENT_DIGEST_CHARACTERS;

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
    if (row.order === null) records.push([index, 'i|1|0|0||||||']);
    else if (row.duplicateOf !== null) records.push([index, DUPLICATE_RECORD]);
    else if (row.undoes !== null) undoes.push([row.undoes.no, row.undoes.index, String(index)]);
    if (row.order !== null && row.reference !== null) {
      const { reference, content } =
        hashesAt(offset) ?? hashRow({ order: row.order, reference: row.reference });
      const packed = String.fromCharCode(offset) + reference + content.slice(0, CONTENT_DIGEST_CHARACTERS);
      if (row.duplicateOf === null) refs += packed;
      else if (parseOrderId(row.duplicateOf) !== undefined) held += packed;
    }
    const old = row.replaces === null || !isPlannedOrder(row) ? undefined : parseOrderId(row.replaces);
    const oldNo = old && batchNumberOf(old.batch);
    if (old && oldNo !== undefined) replaces.push([oldNo, String(old.index), String(index)]);
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

export const DUPLICATE_RECORD = 'd|1|0|0||||||';

export async function putBlock(
  ledger: RealmLedger,
  at: { no: string; importer: string; block: number },
  bytes: Buffer,
  claims: BlockClaims,
): Promise<'ok' | 'not-importer' | BlockConflict[]> {
  const [status, conflicts] = texts(
    await ledger.scripts.script('put-block', ledger.keyPrefix, [
      at.no,
      at.importer,
      at.block,
      bytes,
      at.block * PLAN_BLOCK_ROWS + 1,
      claims.refs,
      claims.replaces.length + claims.undoes.length + claims.records.length + claims.accounts.length === 0
        ? ''
        : JSON.stringify({
            replaces: claims.replaces,
            undoes: claims.undoes,
            records: claims.records,
            accounts: claims.accounts,
          }),
    ]),
  );
  if (status === 'ok' || status === 'not-importer') return status;
  return listFromLua(conflicts ?? '[]').map((entry) => conflictEntry.parse(entry));
}

/**
 * Takes back a batch that was never sealed, block by block: also the blocks that an importer stored which
 * this one took over from, of the same orders. Left behind, their marks would keep the orders they replace
 * from ever being retried.
 */
export async function dropBatch(
  ledger: RealmLedger,
  at: { no: string; importer: string },
  blocks: number,
  claimsOf: (block: number) => Promise<BlockClaims>,
): Promise<void> {
  const { redis } = ledger.scripts;
  const meta = batchKeys(ledger.keyPrefix, at.no).meta;
  const stored = Number(await ledger.scripts.retryWhileAway('read batch', () => redis.hget(meta, 'blocks')));
  for (let block = Math.max(blocks, stored) - 1; block >= -1; block--) {
    const { refs, replaces } = block < 0 ? NO_CLAIMS : await claimsOf(block);
    const content = { refs: unpackRefs(refs, block * PLAN_BLOCK_ROWS + 1), replaces };
    const reply = await ledger.scripts.script('drop-batch', ledger.keyPrefix, [
      at.no,
      at.importer,
      Math.max(block, 0),
      JSON.stringify(content),
      block < 0 ? '1' : '',
    ]);
    if (reply !== 'ok') return;
  }
}

function unpackRefs(refs: Buffer, firstIndex: number): [shard: string, fieldHex: string, index: number][] {
  const unpacked: [string, string, number][] = [];
  for (let at = 0; at < refs.length; at += REF_BYTES) {
    const shard = refs.toString('latin1', at + 1, at + 5);
    const field = refs.toString('hex', at + 5, at + 1 + REFERENCE_HASH_BYTES);
    unpacked.push([shard, field, firstIndex + refs.readUInt8(at)]);
  }
  return unpacked;
}

/** For each reference: who keeps it spent, if anybody. */
export async function findSpent(
  ledger: RealmLedger,
  references: readonly string[],
  /** The same references as `referenceHash` gives them, where that was done already. */
  hashes: readonly string[] = references.map(referenceHash),
): Promise<Map<string, ReferenceHolder>> {
  if (references.length === 0) return new Map();
  // One packed argument: as two each, a thousand arguments cost more than the look-up.
  const packed = Buffer.from(hashes.join(''), 'latin1');
  const reply = texts(await ledger.scripts.script('find-spent', ledger.keyPrefix, [packed]));
  const spent = new Map<string, ReferenceHolder>();
  for (let i = 0; i < reply.length; i += 2) {
    const reference = references[Number(reply[i])];
    if (reference !== undefined) spent.set(reference, parseHolder(reply[i + 1] ?? ''));
  }
  return spent;
}

function newCache() {
  return new LRUCache<string, Promise<readonly PlanRow[]>>({ max: 64 });
}

/** Reads plan blocks; orders are worked in file order, so a few decoded blocks serve nearly every look-up. */
export class PlanReader {
  private blocks = newCache();
  private named = newCache();

  constructor(private readonly ledger: RealmLedger) {}

  /** After a rollback of the store, a number may belong to another batch, and a name to other rows. */
  clear(): void {
    this.blocks = newCache();
    this.named = newCache();
  }

  block(no: string, block: number): Promise<readonly PlanRow[]> {
    const key = `${no}:${block}`;
    const { blocks } = this;
    const known = blocks.get(key);
    if (known !== undefined) return known;
    const rows = this.read(no, block);
    // Into the cache it was asked for: what was read before a rollback must not outlive it.
    blocks.set(key, rows);
    rows.catch(() => {
      if (blocks.get(key) === rows) blocks.delete(key);
    });
    return rows;
  }

  /**
   * A row of the batch with this id; null where it has no such row, undefined where the number belongs to another
   * one. The number's owner is read together with the rows, so that this stays right while a store is rolled back
   * under a reader.
   */
  async rowOf(no: string, index: number, batch: BatchId): Promise<PlanRow | null | undefined> {
    const block = Math.floor((index - 1) / PLAN_BLOCK_ROWS);
    const key = `${batch}:${block}`;
    const known = this.named.get(key);
    if (known !== undefined) return (await known)[(index - 1) % PLAN_BLOCK_ROWS] ?? null;
    const { scripts, keyPrefix } = this.ledger;
    const keys = batchKeys(keyPrefix, no);
    const reply = await scripts.retryWhileAway('read plan', () =>
      scripts.redis.multi().hget(keys.meta, 'id').hget(keys.meta, 'state').getBuffer(keys.plan(block)).exec(),
    );
    const [owner, state, bytes] = (reply ?? []).map(([, value]) => value);
    if (owner !== batch || state === 'importing') return undefined;
    if (state === 'archived') return this.row(no, index);
    if (!Buffer.isBuffer(bytes)) return null;
    const rows = decodePlanBlock(bytes);
    this.named.set(key, Promise.resolve(rows));
    return rows[(index - 1) % PLAN_BLOCK_ROWS] ?? null;
  }

  private async read(no: string, block: number): Promise<readonly PlanRow[]> {
    const place = { ledger: this.ledger, no };
    const bytes = (await storeSource(place).plan(block)) ?? (await (await batchSource(place)).plan(block));
    if (bytes === null)
      throw new AlmonerError(
        'ALM_LEDGER_PLAN_MISSING',
        `Block ${block} of the plan of batch no. ${no} is not in the store. Nothing was sent for it.`,
      );
    return decodePlanBlock(bytes);
  }

  async row(no: string, index: number): Promise<PlanRow> {
    const rows = await this.block(no, Math.floor((index - 1) / PLAN_BLOCK_ROWS));
    const row = rows[(index - 1) % PLAN_BLOCK_ROWS];
    if (row === undefined)
      throw new AlmonerError('ALM_BATCH_ORDER_NOT_FOUND', `Batch no. ${no} has no row ${index}.`);
    return row;
  }
}
