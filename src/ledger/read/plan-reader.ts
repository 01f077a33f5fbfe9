import { LRUCache } from 'lru-cache';
import { AlmonerError } from '../../core/errors/error.js';
import type { BatchId } from '../../core/ids.js';
import { batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock, decodeRow, type PlanRow, UNKNOWN_ROW } from '../plan-block.js';
import type { RealmLedger } from '../realm-ledger.js';
import { batchSource, storeSource } from './batch-source.js';

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
    const forget = () => {
      if (blocks.get(key) === rows) blocks.delete(key);
    };
    // A recovered batch grows.
    rows.then((read) => read.includes(UNKNOWN_ROW) && forget(), forget);
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
      redis
        .multi()
        .hmget(keys.meta, 'id', 'state', 'recovered')
        .getBuffer(keys.plan(block))
        .hget(keys.recoveredRows, String(index))
        .exec(),
    );
    const [facts, bytes, recovered] = (reply ?? []).map(([, value]) => value);
    const [owner, state, isRecovered] = Array.isArray(facts) ? facts : [];
    if (owner !== batch || state === 'importing') return undefined;
    if (state === 'archived')
      return (await this.block(no, block))[(index - 1) % PLAN_BLOCK_ROWS] ?? UNKNOWN_ROW;
    if (isRecovered === '1') return typeof recovered === 'string' ? decodeRow(recovered) : null;
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
    if (row === undefined || row === UNKNOWN_ROW)
      throw new AlmonerError('ALM_BATCH_ORDER_NOT_FOUND', `Batch no. ${no} has no row ${index}.`);
    return row;
  }
}
