import { LRUCache } from 'lru-cache';
import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import { effectsOf } from '../../core/order.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock, mayMention, type PlanRow } from '../plan-block.js';
import type { RealmLedger } from '../realm-ledger.js';
import { batchSource, storeSource } from './batch-source.js';
import type { BatchRef } from './batches.js';

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
    // The block goes into the cache it was asked for: what was read before a rollback must not outlive it.
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
    const reply = await scripts.ask('read plan', (redis) =>
      redis.multi().hget(keys.meta, 'id').hget(keys.meta, 'state').getBuffer(keys.plan(block)).exec(),
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

/**
 * Which orders of a batch touch a member. There is no index by member: it would cost every paid order its
 * bytes for a question that is asked now and then. The plan is scanned block by block instead, and memory
 * does not grow with it.
 */
const BLOCKS_AT_ONCE = 16;

export async function* ordersTouching(
  ref: BatchRef,
  rows: number,
  member: string,
  onScanned: (rows: number) => void = () => {},
): AsyncGenerator<number> {
  const source = await batchSource(ref);
  const blocks = Math.ceil(rows / PLAN_BLOCK_ROWS);
  for (let first = 0; first < blocks; first += BLOCKS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(BLOCKS_AT_ONCE, blocks - first) }, (_, i) => first + i);
    const read = await Promise.all(numbers.map((block) => source.plan(block)));
    for (const [i, bytes] of read.entries())
      if (bytes !== null && mayMention(bytes, member))
        for (const [offset, { order }] of decodePlanBlock(bytes).entries())
          if (order !== null && effectsOf(order).some((effect) => effect.member === member))
            yield (first + i) * PLAN_BLOCK_ROWS + offset + 1;
    onScanned(Math.min((first + numbers.length) * PLAN_BLOCK_ROWS, rows));
  }
}
