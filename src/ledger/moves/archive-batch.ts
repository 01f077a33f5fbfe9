import { randomBytes } from 'node:crypto';
import { link, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { hasCode } from '../../core/errors/error.js';
import { contentHash, contentWords, REFERENCE_HASH_BYTES, referenceHash } from '../../core/reference.js';
import { BLOCK_ORDERS, batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { decodePlanBlock, decodeRow, UNKNOWN_ROW } from '../plan-block.js';
import { type ArchiveChunk, ArchiveFile, archiveHash, writeArchive } from '../read/archive-file.js';
import { archivePath, recordsOfBlock, storeSource } from '../read/batch-source.js';
import { LOOK_BACK_MS } from '../read/earlier.js';
import { type BatchPlace, type BatchRef, batchFacts, storeNowMs } from '../realm-ledger.js';
import { decodeRecord } from '../record.js';
import { originWords, SketchWriter } from '../sketch.js';
import { syncFolder } from '../sync-folder.js';
import { decodeManifest } from '../views.js';
import { noteChange } from './note-change.js';
import { takeBackDead } from './release-import.js';

/**
 * Archiving one finished batch: written whole, read back and compared, then switched by one script that
 * refuses any batch in which something has moved since; only then do its rows leave the store, block by
 * block. Whatever is interrupted is done again by the next who comes by: every step is safe to repeat.
 *
 * What stays in the store: the batch's summary, its counters, its spent references, which of its orders were retried,
 * its dead letters that nobody has dealt with, and for 30 days its sketch.
 */
export type Archived = { readonly batch: string; readonly rows: number; readonly path: string };

/** Undefined when the batch moved meanwhile, or is no batch to archive. */
export async function archiveBatch(ref: BatchRef, folder: string): Promise<Archived | undefined> {
  const { ledger, no } = ref;
  const { scripts, keyPrefix } = ledger;
  const keys = batchKeys(keyPrefix, no);
  // An import into a recovered batch keeps it from being archived; a dead one must not do so for good.
  await takeBackDead(ref);
  const meta = await scripts.ask('read batch', (redis) => redis.hgetall(keys.meta));
  const rows = Number(meta.rows ?? 0);
  const path = archivePath(folder, ledger.id, ref.id);
  if (meta.state !== 'archived') {
    const counters = await scripts.ask('read batch', (redis) => redis.hgetall(keys.counters));
    if (!isArchivable(meta, counters)) return undefined;
    const unpaid = await freeUnpaid(ref, rows);
    if (unpaid === undefined) return undefined;
    const source = storeSource(ref);
    const batch = {
      batch: ref.id,
      meta,
      counters,
      audit: await source.audit(),
      latency: await source.latency(),
      run: await source.run(),
    };
    const draft = `${path}.by-${randomBytes(6).toString('hex')}`;
    const sha256 = await writeArchive(draft, batch, chunksOf(ref, rows));
    await readBack(draft, sha256, ref, rows);
    const args = [no, meta.version ?? '0', sha256, unpaid.bits, JSON.stringify(unpaid.replaced)];
    // Where the store gives no answer the draft stays: it may be the file that the store names.
    const reply = z.string().parse(await scripts.script('archive-batch', keyPrefix, args));
    const [named] = await batchFacts(ref, 'archive');
    if (named === sha256) await putInPlace(draft, path, sha256);
    else await rm(draft, { force: true });
    if (reply !== 'ok' && reply !== 'archived') return undefined;
  }
  await purge(ref, rows);
  return { batch: ref.id, rows, path };
}

/**
 * The file that the store names takes the batch's name. One process puts it there: of two that archive the same batch, the
 * store names the file of one. Until then readers find it beside by its hash. A file of another past of the store may have
 * the name, and a former store that is kept may name that file: it stays beside.
 */
async function putInPlace(draft: string, path: string, sha256: string): Promise<void> {
  const there = await archiveHash(path);
  if (there !== null && there !== sha256)
    await link(path, `${path}.before-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`).catch(
      (error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error;
      },
    );
  await rename(draft, path);
  await syncFolder(dirname(path));
}

/** Finished, nothing in it waits for evidence or a person, and nothing more is being imported into it. */
function isArchivable(meta: Record<string, string>, counters: Record<string, string>): boolean {
  if (meta.state !== 'done' && meta.state !== 'cancelled') return false;
  if (meta.recovered === '1' && meta.importer !== undefined) return false;
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

type Unpaid = {
  /** A bit for each index; none where all were paid. */
  readonly bits: Buffer;
  /** Of those in whose place another order stands: that one's place. */
  readonly replaced: readonly (readonly [index: string, place: string])[];
};

/**
 * What an archived batch holds counts as spent: what was never paid is given back first. Undefined while the request of one
 * of them may still arrive.
 */
async function freeUnpaid(ref: BatchRef, rows: number): Promise<Unpaid | undefined> {
  const { ledger, no } = ref;
  const source = storeSource(ref);
  const nowMs = await storeNowMs(ledger);
  const bits = Buffer.alloc((rows >> 3) + 1);
  const replaced: [string, string][] = [];
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const plan = await source.plan(block);
    if (plan === null) continue;
    const records = await recordsOfBlock(source, block);
    const first = block * PLAN_BLOCK_ROWS + 1;
    let packed = '';
    for (const [place, { reference }] of decodePlanBlock(plan).entries()) {
      const index = first + place;
      const record = records[String(index)];
      const { code, arrivesUntil } = decodeRecord(record);
      if (code === 'P') continue;
      if ((arrivesUntil ?? 0) > nowMs) return undefined;
      setBit(bits, index);
      const [, byNo, byIndex] = /r(\d+)\.(\d+)/.exec(record ?? '') ?? [];
      if (byNo !== undefined && byIndex !== undefined) replaced.push([String(index), `${byNo}:${byIndex}`]);
      if (reference !== null) packed += String.fromCharCode(place) + referenceHash(reference);
    }
    if (packed === '') continue;
    const args = [no, Buffer.from(packed, 'latin1'), first];
    const freed = await ledger.scripts.script('release-references', ledger.keyPrefix, args);
    if (Number(freed) * REF_BYTES < packed.length) return undefined;
  }
  return { bits: bits.some((byte) => byte !== 0) ? bits : Buffer.alloc(0), replaced };
}

/** As GETBIT reads it. */
function setBit(bits: Buffer, index: number): void {
  bits[index >> 3] = (bits[index >> 3] ?? 0) | (0x80 >> (index & 7));
}

/** A row's place in the block and its reference's hash. */
const REF_BYTES = 1 + REFERENCE_HASH_BYTES;

/** Rows leave block by block, so that nothing else waits; the batch's own small keys go last. */
async function purge({ ledger, no }: BatchPlace, rows: number): Promise<void> {
  const { scripts, keyPrefix } = ledger;
  const keys = batchKeys(keyPrefix, no);
  const [purged, finishedAt] = await batchFacts({ ledger, no }, 'purged', 'finishedAt');
  if (purged === '1') return;
  await sketchRecovered({ ledger, no }, rows);
  await keepOpenDead({ ledger, no });
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++) {
    const names = [
      keys.plan(block),
      ...recordBlocksOf(block).map((one) => keys.records(one)),
      ...indexesOf(block, rows).flatMap((index) => [keys.details(index), keys.attempts(index)]),
    ];
    await scripts.ask('archive', (redis) => redis.unlink(...names));
  }
  const { due, waiting, holding, accounts, generations, audit, latency, run, meta, sketch } = keys;
  const { recoveredRows, recoveredMembers, alone } = keys;
  await scripts.ask('archive', (redis) =>
    redis.unlink(
      due,
      waiting,
      holding,
      accounts,
      generations,
      audit,
      latency,
      run,
      recoveredRows,
      recoveredMembers,
      alone,
    ),
  );
  // Read while its rows are compared with; without it they are read from the archive.
  await scripts.ask('archive', (redis) => redis.pexpireat(sketch, Number(finishedAt) + LOOK_BACK_MS));
  await scripts.ask('archive', (redis) => redis.hset(meta, 'purged', '1'));
  await noteChange(ledger, no);
}

/**
 * Dead letters that nobody has dealt with go on waiting for a person. Those that are marked leave the list; done again after
 * a crash, the records of some have left already, and so have they.
 */
async function keepOpenDead({ ledger, no }: BatchPlace): Promise<void> {
  const { scripts, keyPrefix } = ledger;
  const { attention } = batchKeys(keyPrefix, no);
  const listed = await scripts.ask('list orders', (redis) => redis.zrange(attention, 0, '-1'));
  for (let first = 0; first < listed.length; first += LISTED_AT_ONCE) {
    const some = listed.slice(first, first + LISTED_AT_ONCE);
    const records = await Promise.all(some.map((index) => storedRecord({ ledger, no }, Number(index))));
    const marked = some.filter((_, at) => {
      const record = records[at];
      return record != null && decodeRecord(record).marks.length > 0;
    });
    if (marked.length > 0) await scripts.ask('archive', (redis) => redis.zrem(attention, ...marked));
  }
}

const LISTED_AT_ONCE = 1_000;

function storedRecord({ ledger: { scripts, keyPrefix }, no }: BatchPlace, index: number) {
  const key = batchKeys(keyPrefix, no).records(Math.floor((index - 1) / BLOCK_ORDERS));
  return scripts.ask('read order', (redis) => redis.hget(key, String(index)));
}

/**
 * No seal has written the sketch of a recovered batch, because it grew. From here on nothing is added to it. Done again
 * after a crash: not where the rows have left already.
 */
async function sketchRecovered({ ledger, no }: BatchPlace, rows: number): Promise<void> {
  const { scripts, keyPrefix } = ledger;
  const { recoveredRows, sketch } = batchKeys(keyPrefix, no);
  const [manifest] = await batchFacts({ ledger, no }, 'manifest');
  const found = await scripts.ask('read rows', (redis) => redis.hgetall(recoveredRows));
  if (manifest == null || Object.keys(found).length === 0) return;
  const made = decodeManifest(manifest);
  const writer = new SketchWriter(made.table !== null);
  for (let block = 0; block * PLAN_BLOCK_ROWS < rows; block++)
    writer.add(
      indexesOf(block, rows).map((index) => {
        const packed = found[String(index)];
        const row = packed === undefined ? UNKNOWN_ROW : decodeRow(packed);
        const content = row.order === null ? undefined : contentWords(contentHash(row.order));
        return { content, origin: originWords(made, row) ?? undefined };
      }),
    );
  await scripts.ask('archive', (redis) => redis.set(sketch, writer.bytes()));
}

function recordBlocksOf(block: number): number[] {
  const perPlan = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
  return Array.from({ length: perPlan }, (_, i) => block * perPlan + i);
}

function indexesOf(block: number, rows: number): number[] {
  const first = block * PLAN_BLOCK_ROWS + 1;
  return Array.from({ length: Math.min(PLAN_BLOCK_ROWS, rows - first + 1) }, (_, i) => first + i);
}
