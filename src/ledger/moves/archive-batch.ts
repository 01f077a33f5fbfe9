import { z } from 'zod';
import { REFERENCE_HASH_BYTES, referenceHash } from '../../core/reference.js';
import { BLOCK_ORDERS, batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock } from '../plan-block.js';
import { type ArchiveChunk, ArchiveFile, writeArchive } from '../read/archive-file.js';
import { archivePath, recordsOfBlock, storeSource } from '../read/batch-source.js';
import type { BatchRef } from '../read/batches.js';
import { LOOK_BACK_MS } from '../read/earlier.js';
import { batchFacts } from '../realm-ledger.js';
import { decodeRecord } from '../record.js';

/**
 * Archiving one finished batch: written whole, read back and compared, then switched by one script that
 * refuses any batch in which something has moved since; only then do its rows leave the store, block by
 * block. Whatever is interrupted is done again by the next who comes by: every step is safe to repeat.
 *
 * What stays in the store: the batch's summary, its counters, its spent references, which of its orders were retried,
 * and for 30 days its sketch.
 */
export type Archived = { readonly batch: string; readonly rows: number; readonly path: string };

/** Undefined when the batch moved meanwhile, or is no batch to archive. */
export async function archiveBatch(ref: BatchRef, folder: string): Promise<Archived | undefined> {
  const { ledger, no } = ref;
  const { scripts, keyPrefix } = ledger;
  const keys = batchKeys(keyPrefix, no);
  const meta = await scripts.ask('read batch', (redis) => redis.hgetall(keys.meta));
  const rows = Number(meta.rows ?? 0);
  const path = archivePath(folder, ledger.id, ref.id);
  if (meta.state !== 'archived') {
    const counters = await scripts.ask('read batch', (redis) => redis.hgetall(keys.counters));
    if (!isArchivable(meta, counters)) return undefined;
    if (!(await freeUnpaid(ref, rows))) return undefined;
    const source = storeSource(ref);
    const batch = {
      batch: ref.id,
      meta,
      counters,
      audit: await source.audit(),
      latency: await source.latency(),
      run: await source.run(),
    };
    const sha256 = await writeArchive(path, batch, chunksOf(ref, rows));
    await readBack(path, sha256, ref, rows);
    const args = [no, meta.version ?? '0', sha256];
    const reply = z.string().parse(await scripts.script('archive-batch', keyPrefix, args));
    if (reply !== 'ok' && reply !== 'archived') return undefined;
  }
  await purge(ref, rows);
  return { batch: ref.id, rows, path };
}

/** Finished, and nothing in it waits for evidence or a person. */
function isArchivable(meta: Record<string, string>, counters: Record<string, string>): boolean {
  if (meta.state !== 'done' && meta.state !== 'cancelled') return false;
  return ['c:s', 'c:u', 'c:D'].every((name) => Number(counters[name] ?? 0) === 0);
}

async function* chunksOf(ref: BatchRef, rows: number): AsyncGenerator<ArchiveChunk> {
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) yield chunkOf(ref, block, rows);
}

async function chunkOf(ref: BatchRef, block: number, rows: number): Promise<ArchiveChunk> {
  const source = storeSource(ref);
  const indexes = indexesOf(block, rows);
  const [plan, records, found] = await Promise.all([
    source.plan(block),
    Promise.all(recordBlocksOf(block).map((one) => source.records(one))),
    Promise.all(indexes.map((index) => source.details(index))),
  ]);
  if (plan === null) throw new Error(`block ${block} of batch ${ref.id} is not in the store`);
  const details = Object.fromEntries(
    found.flatMap((entries, at) => (entries.length === 0 ? [] : [[String(indexes[at]), entries]])),
  );
  return { plan, records, details };
}

/** The file says the same as the store, row by row, before anything is taken away. */
async function readBack(path: string, sha256: string, ref: BatchRef, rows: number): Promise<void> {
  const file = await ArchiveFile.open(path);
  let same = file.sha256 === sha256 && file.footer.batch === ref.id;
  for (let block = 0; same && block * PLAN_BLOCK_ROWS < rows; block++) {
    const [written, stored] = await Promise.all([file.chunk(block), chunkOf(ref, block, rows)]);
    same =
      written?.plan.equals(stored.plan) === true &&
      JSON.stringify([written.records, written.details]) === JSON.stringify([stored.records, stored.details]);
  }
  if (!same) throw new Error(`the archive of batch ${ref.id} does not read back as it was written`);
}

/**
 * What an archived batch holds counts as spent: what was never paid is given back first. False while one of them
 * is kept, because its request may still arrive.
 */
async function freeUnpaid(ref: BatchRef, rows: number): Promise<boolean> {
  const { ledger, no } = ref;
  const source = storeSource(ref);
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const plan = await source.plan(block);
    if (plan === null) continue;
    const records = await recordsOfBlock(source, block);
    const first = block * PLAN_BLOCK_ROWS + 1;
    let packed = '';
    for (const [place, { reference }] of decodePlanBlock(plan).entries())
      if (reference !== null && decodeRecord(records[String(first + place)]).code !== 'P')
        packed += String.fromCharCode(place) + referenceHash(reference);
    if (packed === '') continue;
    const args = [no, Buffer.from(packed, 'latin1'), first];
    const freed = await ledger.scripts.script('release-references', ledger.keyPrefix, args);
    if (Number(freed) * REF_BYTES < packed.length) return false;
  }
  return true;
}

/** A row's place in the block and its reference's hash. */
const REF_BYTES = 1 + REFERENCE_HASH_BYTES;

/** Rows leave block by block, so that nothing else waits; the batch's own small keys go last. */
async function purge({ ledger, no }: BatchRef, rows: number): Promise<void> {
  const { scripts, keyPrefix } = ledger;
  const keys = batchKeys(keyPrefix, no);
  const [purged, finishedAt] = await batchFacts({ ledger, no }, 'purged', 'finishedAt');
  if (purged === '1') return;
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const names = [
      keys.plan(block),
      ...recordBlocksOf(block).map((one) => keys.records(one)),
      ...indexesOf(block, rows).flatMap((index) => [keys.details(index), keys.attempts(index)]),
    ];
    await scripts.ask('archive', (redis) => redis.unlink(...names));
  }
  const { attention, due, waiting, holding, accounts, generations, audit, latency, run, meta, sketch } = keys;
  await scripts.ask('archive', (redis) =>
    redis.unlink(attention, due, waiting, holding, accounts, generations, audit, latency, run),
  );
  // Read while its rows are compared with; without it they are read from the archive.
  await scripts.ask('archive', (redis) => redis.pexpireat(sketch, Number(finishedAt) + LOOK_BACK_MS));
  await scripts.ask('archive', (redis) => redis.hset(meta, 'purged', '1'));
}

function recordBlocksOf(block: number): number[] {
  const perPlan = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
  return Array.from({ length: perPlan }, (_, i) => block * perPlan + i);
}

function indexesOf(block: number, rows: number): number[] {
  const first = block * PLAN_BLOCK_ROWS + 1;
  return Array.from({ length: Math.min(PLAN_BLOCK_ROWS, rows - first + 1) }, (_, i) => first + i);
}
