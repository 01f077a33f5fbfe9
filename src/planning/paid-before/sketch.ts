import { DenseIndex, mix, words32 } from '../../core/dense-index.js';
import { AlmonerError } from '../../core/errors/error.js';
import type { Order } from '../../core/order.js';
import { type ContentWords, contentHash, contentWords, SKETCH_ROW_BYTES } from '../../core/reference.js';
import {
  type BatchRef,
  type OrderRecord,
  PLAN_BLOCK_ROWS,
  type PlanRow,
  planning,
  reading,
  type StoredBatch,
} from '../../ledger/index.js';

/**
 * The rows of a file that nothing but their content identifies, as a multiset: equal rows stand in one list, in
 * the file's order. Known by 64 bits of the content's hash; about 30 bytes a row.
 */
export class BareRows {
  readonly #index = new DenseIndex();
  // Columns by content:
  readonly #a = words32();
  readonly #b = words32();
  readonly #first = words32();
  readonly #last = words32();
  // Columns by row, counted from 1:
  readonly #next = words32();
  readonly #place = words32();
  readonly #line = words32();
  #size = 0;
  readonly #hashOf = (entry: number) => mix(this.#a.get(entry), 0, 0);

  get size(): number {
    return this.#size;
  }

  get contents(): number {
    return this.#index.size;
  }

  /** `index`: the row's number in the plan. */
  add(index: number, line: number, [a, b]: ContentWords): void {
    const size = this.#index.size;
    const entry = this.#index.find(mix(a, 0, 0), (other) => this.#is(other, a, b), this.#hashOf);
    this.#size += 1;
    const row = this.#size;
    this.#place.set(row, index);
    this.#line.set(row, line);
    if (entry === size) {
      this.#a.set(entry, a);
      this.#b.set(entry, b);
      this.#first.set(entry, row);
    } else this.#next.set(this.#last.get(entry), row);
    this.#last.set(entry, row);
  }

  /** A content by the words of its hash, -1 where no row has it. Without the second word: one that may be it. */
  find(a: number, b: number | null): number {
    const same = (entry: number) => (b === null ? this.#a.get(entry) === a : this.#is(entry, a, b));
    return this.#index.seek(mix(a, 0, 0), same);
  }

  wordsOf(entry: number): ContentWords {
    return [this.#a.get(entry), this.#b.get(entry)];
  }

  /** The rows of a content, one after the other: 0 is the end. */
  firstOf(entry: number): number {
    return this.#first.get(entry);
  }

  after(row: number): number {
    return this.#next.get(row);
  }

  indexOf(row: number): number {
    return this.#place.get(row);
  }

  lineOf(row: number): number {
    return this.#line.get(row);
  }

  #is(entry: number, a: number, b: number): boolean {
    return this.#a.get(entry) === a && this.#b.get(entry) === b;
  }
}

/**
 * The orders of a batch with the content of some rows. Its sketch, one word of each row's content, names the blocks
 * worth looking at; without one (a batch of an older version, or archived long ago) that is every block.
 */
export type EqualOrder = {
  readonly index: number;
  readonly row: PlanRow & { readonly order: Order };
  readonly record: OrderRecord;
  readonly words: ContentWords;
};

/** The orders of a batch that stood in their file as one of these rows does, block by block, with their records. */
export async function* equalOrigins(
  ref: BatchRef,
  { manifest, lastIndex }: Pick<StoredBatch, 'manifest' | 'lastIndex'>,
  wanted: readonly BareRows[],
): AsyncGenerator<Pick<EqualOrder, 'index' | 'words' | 'record'>[]> {
  const { originOf } = await planning.sketches.read(ref, lastIndex);
  const isWanted = (words: ContentWords | null) =>
    words !== null && wanted.some((rows) => rows.find(...words) !== -1);
  for (let first = 0; first < lastIndex; first += PLAN_BLOCK_ROWS) {
    const end = Math.min(lastIndex, first + PLAN_BLOCK_ROWS);
    const isThere = Array.from({ length: end - first }, (_, at) => first + at + 1).some(
      (index) => originOf === null || isWanted(originOf(index)),
    );
    if (!isThere) continue;
    const { rows, recordOf } = await readBlock(ref, first / PLAN_BLOCK_ROWS);
    yield rows.flatMap((row, offset) => {
      const words = planning.sketches.originWords(manifest, row);
      if (words === null || !isWanted(words)) return [];
      const index = first + offset + 1;
      return [{ index, words, record: recordOf(index) }];
    });
  }
}

/** The rows of a block that may have the content of one of these. */
export function sketchHits(
  sketch: Buffer,
  block: number,
  wanted: readonly BareRows[],
): [index: number, word: number][] {
  const hits: [number, number][] = [];
  const first = block * PLAN_BLOCK_ROWS;
  const end = Math.min(sketch.length / SKETCH_ROW_BYTES, first + PLAN_BLOCK_ROWS);
  for (let row = first; row < end; row++) {
    const word = sketch.readUInt32LE(row * SKETCH_ROW_BYTES);
    if (wanted.some((rows) => rows.find(word, null) !== -1)) hits.push([row + 1, word]);
  }
  return hits;
}

/** The equal orders of a batch, block by block in its file's order. */
export async function* equalOrders(
  ref: BatchRef,
  rows: number,
  sketch: Buffer | null,
  wanted: readonly BareRows[],
): AsyncGenerator<readonly EqualOrder[]> {
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++)
    if (sketch === null || sketchHits(sketch, block, wanted).length > 0)
      yield await equalInBlock(ref, block, wanted);
}

async function equalInBlock(
  ref: BatchRef,
  block: number,
  wanted: readonly BareRows[],
): Promise<EqualOrder[]> {
  const { rows, recordOf } = await readBlock(ref, block);
  return rows.flatMap((row, offset) => {
    const { order } = row;
    if (order === null) return [];
    const index = block * PLAN_BLOCK_ROWS + offset + 1;
    const words = contentWords(contentHash(order));
    if (!wanted.some((one) => one.find(...words) !== -1)) return [];
    return [{ index, row: { ...row, order }, record: recordOf(index), words }];
  });
}

async function readBlock(ref: BatchRef, block: number) {
  const orders = await (await reading.BatchBlocks.open(ref)).orders(block);
  if (orders !== null) return orders;
  throw new AlmonerError(
    'ALM_LEDGER_PLAN_MISSING',
    `Block ${block} of the plan of batch ${ref.id} is not in the store. Nothing was compared with it.`,
  );
}
