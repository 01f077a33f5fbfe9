import { decodePlanBlock, type PlanRow, PlanText } from '../plan-block.js';
import type { BatchPlace } from '../realm-ledger.js';
import { decodeRecord, type OrderRecord } from '../record.js';
import { type BatchSource, batchSource, recordsOfBlock } from './batch-source.js';

/** The orders of a batch, a plan block at a time, from the store or from its archive: for whoever looks through many. */
export class BatchBlocks {
  private constructor(
    private readonly place: BatchPlace,
    private source: BatchSource,
  ) {}

  static async open(place: BatchPlace): Promise<BatchBlocks> {
    return new BatchBlocks(place, await batchSource(place));
  }

  /** A batch that is archived while it is looked through goes on in its archive; null where neither has the block. */
  async plan(block: number): Promise<PlanText | null> {
    let bytes = await this.source.plan(block);
    if (bytes === null) {
      this.source = await batchSource(this.place);
      bytes = await this.source.plan(block);
    }
    return bytes === null ? null : new PlanText(bytes);
  }

  /**
   * The rows and records of a block as they belong together; null where the batch has no such block. A batch may be archived under
   * a reader. Its block leaves the store in one step, so a plan that is there after the records says that they were.
   */
  async orders(
    block: number,
  ): Promise<{ readonly rows: PlanRow[]; readonly recordOf: (index: number) => OrderRecord } | null> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const recordOf = await this.records(block);
      const bytes = await this.source.plan(block);
      if (bytes !== null) return { rows: decodePlanBlock(bytes), recordOf };
      this.source = await batchSource(this.place);
    }
    return null;
  }

  /** What became of each order of the block, by its index. */
  async records(block: number): Promise<(index: number) => OrderRecord> {
    const records = await recordsOfBlock(this.source, block);
    return (index) => decodeRecord(records[String(index)]);
  }
}
