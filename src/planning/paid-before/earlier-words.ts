import { LRUCache } from 'lru-cache';
import { isAlmonerError } from '../../core/errors/error.js';
import { type OrderId, orderId } from '../../core/ids.js';
import { contentOf, type Order } from '../../core/order.js';
import type { OrderState } from '../../core/states.js';
import {
  batchRef,
  type OrderRecord,
  PLAN_BLOCK_ROWS,
  type PlanRow,
  type RealmLedger,
  reading,
} from '../../ledger/index.js';
import { orderWords } from '../../words/amounts.js';

/**
 * Telling an order costs the reading of its block, which serves the next ones where rows speak of orders in these orders'
 * order. So many blocks are those of a million rows; a larger file, or one that is shuffled, is told of ids alone after them.
 */
const BLOCKS_READ_MAX = 4_096;
const BLOCKS_KEPT = 64;

type Place = { readonly no: string; readonly index: number };
type Block = { readonly rows: readonly PlanRow[]; readonly recordOf: (index: number) => OrderRecord };

/** Orders of the books as messages about a row tell them: what they do, where they stand, what became of them. */
export class EarlierWords {
  private readonly batches = new Map<string, ReturnType<EarlierWords['readBatch']>>();
  private readonly blocks = new LRUCache<string, Promise<Block | null>>({ max: BLOCKS_KEPT });
  /** Batches whose rows cannot be read: nobody looks for the archive of one a million times. */
  private readonly unread = new Set<string>();

  constructor(
    private readonly ledger: RealmLedger,
    private readonly plans: reading.PlanReader,
    private left = BLOCKS_READ_MAX,
  ) {}

  async idOf({ no, index }: Place): Promise<OrderId> {
    return orderId((await this.batch(no)).id, index);
  }

  /** ` That order: give 50 to 7 (line 2 of a.csv in batch b1, paid). This row: give 77 to 7.`; nothing where both do the same. */
  async beside(place: Place, row: Order): Promise<string> {
    const old = await this.tell(place);
    if (old !== null && contentOf(old.order) === contentOf(row)) return '';
    const unread = this.unread.has(place.no) ? ' This process cannot read the rows of its batch.' : '';
    return `${old === null ? unread : ` That order: ${old.words}.`} This row: ${orderWords(row)}.`;
  }

  private async tell({ no, index }: Place): Promise<{ order: Order; words: string } | null> {
    const block = await this.block(no, Math.floor((index - 1) / PLAN_BLOCK_ROWS));
    const row = block?.rows[(index - 1) % PLAN_BLOCK_ROWS];
    if (block === null || row === undefined || row.order === null) return null;
    const { id, source } = await this.batch(no);
    const state = reading.orders.stateOf(block.recordOf(index));
    const where = `line ${row.line}${source === null ? '' : ` of ${source}`} in batch ${id}`;
    return { order: row.order, words: `${orderWords(row.order)} (${where}, ${STANDS[state] ?? state})` };
  }

  private block(no: string, block: number): Promise<Block | null> {
    const key = `${no}:${block}`;
    const known = this.blocks.get(key);
    if (known !== undefined) return known;
    if (this.unread.has(no) || this.left === 0) return Promise.resolve(null);
    this.left -= 1;
    const soon = this.read(no, block).catch((error: unknown) => {
      if (
        !reading.isArchiveAway(error) &&
        !(isAlmonerError(error) && error.code === 'ALM_LEDGER_PLAN_MISSING')
      )
        throw error;
      this.unread.add(no);
      return null;
    });
    this.blocks.set(key, soon);
    return soon;
  }

  private async read(no: string, block: number): Promise<Block> {
    const source = reading.BatchBlocks.open({ ledger: this.ledger, no });
    const [rows, recordOf] = await Promise.all([
      this.plans.block(no, block),
      source.then((from) => from.records(block)),
    ]);
    return { rows, recordOf };
  }

  private batch(no: string) {
    const known = this.batches.get(no) ?? this.readBatch(no);
    this.batches.set(no, known);
    return known;
  }

  private async readBatch(no: string) {
    const [{ id }, manifest] = await Promise.all([
      batchRef(this.ledger, no),
      reading.sealedManifest(this.ledger, no),
    ]);
    return { id, source: manifest?.source ?? null };
  }
}

/** What will be another one in a minute is not called by its name. */
const STANDS: Readonly<Partial<Record<OrderState, string>>> = {
  planned: 'not settled yet',
  sending: 'not settled yet',
  unknown: 'not settled yet',
  doubt: 'in doubt',
};
