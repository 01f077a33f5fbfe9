import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster, Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { AlmonerError } from '../../core/errors/error.js';
import { BLOCK_ORDERS, batchKeys, PLAN_BLOCK_ROWS } from '../keys.js';
import { blockOfRows } from '../plan-block.js';
import { type BatchPlace, batchFacts } from '../realm-ledger.js';
import { type ArchiveChunk, type ArchiveFile, anotherArchive, openNamedArchive } from './archive-file.js';

/**
 * Where the rows of a batch are read from: the store, or its archive. Whoever shows rows reads through this
 * and cannot tell the difference; whoever moves orders does not, because nothing moves in an archive.
 */
export type BatchSource = {
  plan(block: number): Promise<Buffer | null>;
  /** Records by index, of one block of BLOCK_ORDERS. */
  records(block: number): Promise<Record<string, string>>;
  details(index: number): Promise<string[]>;
  audit(): Promise<string[]>;
  latency(): Promise<Record<string, string>>;
  run(): Promise<Record<string, string>>;
};

export async function batchSource(ref: BatchPlace): Promise<BatchSource> {
  const [state, id, sha256] = await batchFacts(ref, 'state', 'id', 'archive');
  return state === 'archived' ? archiveSource(ref, id ?? '', sha256 ?? '') : storeSource(ref);
}

export function storeSource({ ledger, no }: BatchPlace): BatchSource {
  const { scripts, keyPrefix } = ledger;
  const keys = batchKeys(keyPrefix, no);
  return {
    plan: (block) => scripts.ask('read plan', (redis) => storedPlan(redis, keys, block)),
    records: (block) => scripts.ask('read orders', (redis) => redis.hgetall(keys.records(block))),
    details: (index) => scripts.ask('read order', (redis) => redis.lrange(keys.details(index), 0, -1)),
    audit: () => scripts.ask('read audit', (redis) => redis.lrange(keys.audit, 0, -1)),
    latency: () => scripts.ask('read latency', (redis) => redis.hgetall(keys.latency)),
    run: () => scripts.ask('read run', (redis) => redis.hgetall(keys.run)),
  };
}

/** Without a transaction, which a store that is out of memory refuses even where it only reads. */
async function storedPlan(
  redis: Redis | Cluster,
  keys: ReturnType<typeof batchKeys>,
  block: number,
): Promise<Buffer | null> {
  const facts = () => redis.hmget(keys.meta, 'recovered', 'state');
  for (;;) {
    const [before, plan, after] = await Promise.all([facts(), redis.getBuffer(keys.plan(block)), facts()]);
    if (`${before}` !== `${after}`) continue;
    const [recovered, state] = before;
    if (recovered !== '1' || state === 'archived') return plan;
    const first = block * PLAN_BLOCK_ROWS + 1;
    const indexes = Array.from({ length: PLAN_BLOCK_ROWS }, (_, i) => String(first + i));
    const rows = await redis.hmget(keys.recoveredRows, ...indexes);
    if (`${before}` === `${await facts()}`) return blockOfRows(rows);
  }
}

/** The records of the orders of one plan block, by index. */
export async function recordsOfBlock(source: BatchSource, block: number): Promise<Record<string, string>> {
  const perPlan = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
  const numbers = Array.from({ length: perPlan }, (_, i) => block * perPlan + i);
  return Object.assign({}, ...(await Promise.all(numbers.map((one) => source.records(one)))));
}

/** The record of an order in the archive of its batch; empty where it was never sent. */
export async function archivedRecord(place: BatchPlace, index: number): Promise<string> {
  const records = await (await batchSource(place)).records(Math.floor((index - 1) / BLOCK_ORDERS));
  return records[String(index)] ?? '';
}

/** Files that were read and checked by this process. One is replaced where a lost store had its batch imported anew. */
const opened = new LRUCache<string, Promise<ArchiveFile>>({ max: 8 });

/** A scan reads some plan blocks at once and then asks for the records beside each. */
const CHUNKS_KEPT = 16;

async function openArchive(path: string, sha256: string): Promise<ArchiveFile> {
  const file = await openNamedArchive(path, sha256);
  if (file === null) throw anotherArchive(path);
  return file;
}

async function archiveSource(place: BatchPlace, id: string, sha256: string): Promise<BatchSource> {
  const { ledger } = place;
  const path = archivePath(ledger.scripts.archiveFolder, ledger.id, id);
  const written = await stat(path).then(
    ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
    () => '',
  );
  const key = `${path} ${written} ${sha256}`;
  const known = opened.get(key) ?? openArchive(path, sha256);
  opened.set(key, known);
  const file = await known.catch((error: unknown) => {
    opened.delete(key);
    throw error;
  });
  const chunks = new LRUCache<number, Promise<ArchiveChunk | undefined>>({ max: CHUNKS_KEPT });
  const chunk = (block: number) => {
    const kept = chunks.get(block) ?? file.chunk(block);
    chunks.set(block, kept);
    return kept;
  };
  const perPlan = PLAN_BLOCK_ROWS / BLOCK_ORDERS;
  const { audit, latency, run } = file.footer;
  return {
    plan: async (block) => (await chunk(block))?.plan ?? null,
    records: async (block) => (await chunk(Math.floor(block / perPlan)))?.records[block % perPlan] ?? {},
    details: async (index) =>
      (await chunk(Math.floor((index - 1) / PLAN_BLOCK_ROWS)))?.details[String(index)] ?? [],
    audit: async () => {
      const [purged] = await batchFacts(place, 'purged');
      // A journal that came to light later may have had something to say.
      return purged === '1' ? [...audit, ...(await storeSource(place).audit())] : audit;
    },
    latency: () => Promise.resolve(latency),
    run: () => Promise.resolve(run),
  };
}

export function archivePath(folder: string | null, realm: string, id: string): string {
  if (folder === null)
    throw new AlmonerError(
      'ALM_LEDGER_ARCHIVE_MISSING',
      `Batch ${id} is archived, and this process knows no archive folder.`,
    );
  return join(folder, realm, `${id}.alm`);
}
