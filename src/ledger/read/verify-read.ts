import type { Cluster, Redis } from 'ioredis';
import { batchKeys } from '../keys.js';
import { decodePlanBlock, type PlanRow } from '../plan-block.js';
import { type BatchRef, batchFacts, type RealmLedger } from '../realm-ledger.js';
import type { ReferenceHolder } from '../reference.js';
import type { ScriptClient } from '../script-client.js';
import { ArchiveFile, openNamedArchive } from './archive-file.js';
import { archivePath, recordsOfBlock, storeSource } from './batch-source.js';
import { batchNumber } from './batches.js';
import { findSpent } from './earlier.js';

/** What the auditor reads of one batch: its small keys, which tell whether it moves, and its rows block by block. */

/** Everything of a batch but its rows. */
export type Small = Awaited<ReturnType<typeof readSmall>>;

export async function readSmall({ ledger, no }: BatchRef) {
  const keys = batchKeys(ledger.keyPrefix, no);
  return ledger.scripts.ask('read batch', async (redis) => {
    const [meta, counters, attention, due, waiting, holding, listedAt] = await Promise.all([
      redis.hgetall(keys.meta),
      redis.hgetall(keys.counters),
      redis.zrange(keys.attention, 0, '-1', 'WITHSCORES'),
      redis.zrange(keys.due, 0, '-1'),
      redis.hgetall(keys.waiting),
      redis.hgetall(keys.holding),
      redis.zscore(`${ledger.keyPrefix}:open`, no),
    ]);
    return { meta, counters, attention, due, waiting, holding, open: listedAt === null ? 0 : 1 };
  });
}

/**
 * What a listed batch without a manifest has lost; null for an import that is not sealed. One that is given up leaves the
 * list in the same step as its hash, so a batch that is listed still has lost it.
 */
export async function whatIsLost({ ledger, no, id }: BatchRef, { meta }: Small): Promise<string | null> {
  if (meta.id === id && meta.state === 'importing') return null;
  if ((await batchNumber(ledger, id)) !== no) return null;
  return meta.id === id ? 'its manifest is not there' : 'it is listed, and its hash is not there';
}

/** Who holds each reference. One entry that cannot be read fails the whole question, so each is asked by itself then. */
export async function readSpent(
  ledger: RealmLedger,
  references: readonly string[],
): Promise<Map<string, ReferenceHolder | 'malformed'>> {
  try {
    return await findSpent(ledger, references);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ReplyError') throw error;
    if (references.length === 1) return new Map(references.map((one) => [one, 'malformed']));
    const each = await Promise.all(references.map((one) => readSpent(ledger, [one])));
    return new Map(each.flatMap((found) => [...found]));
  }
}

/** One payment of two that was taken back leaves the other. */
export async function isPaidTwice(
  ledger: RealmLedger,
  { no, index }: { readonly no: string; readonly index: string },
): Promise<boolean> {
  const [second] = await batchFacts({ ledger, no }, 'second');
  return (second ?? '').includes(` ${index}:`);
}

/** `moving`: it changed while it was read. `away`: its archive is not on this machine. */
export type Unread = { readonly unread: 'moving' } | { readonly unread: 'away'; readonly why: string };

/** The version grows with every move. Redis does not promise the order of a hash, so entries are sorted. */
export function stampOf(small: Small): string {
  const sorted = (entries: Readonly<Record<string, string>>) => Object.entries(entries).sort();
  const { meta, counters, waiting, holding, attention, due, open } = small;
  return JSON.stringify([
    sorted(meta),
    sorted(counters),
    sorted(waiting),
    sorted(holding),
    attention,
    due,
    open,
  ]);
}

/** Where rows and records come from: the store, or the archive. */
export type Rows = (block: number) => Promise<{ rows: readonly PlanRow[]; records: Record<string, string> }>;

export type Source = { readonly rows: Rows; readonly latency: Readonly<Record<string, string>> };

/** `say` is told of what is not there. */
export async function storedRows(ref: BatchRef, say: (what: string) => void): Promise<Source> {
  const source = storeSource(ref);
  const rows: Rows = async (block) => {
    const [plan, records] = await Promise.all([source.plan(block), recordsOfBlock(source, block)]);
    if (plan === null) say(`block ${block} of its plan is not there`);
    return { rows: plan === null ? [] : decodePlanBlock(plan), records };
  };
  return { rows, latency: await source.latency() };
}

/** Reads the whole file once, and fails where its checksum differs. */
export async function archivedRows(
  { ledger, id }: BatchRef,
  sha256: string | undefined,
  say: (what: string) => void,
): Promise<Source> {
  const path = archivePath(ledger.scripts.archiveFolder, ledger.id, id);
  const named = await openNamedArchive(path, sha256 ?? '');
  const file = named ?? (await ArchiveFile.open(path));
  if (named === null || file.footer.batch !== id) say('its archive is another one than the store says');
  const rows: Rows = async (block) => {
    const chunk = await file.chunk(block);
    if (chunk === undefined) say(`block ${block} is not in its archive`);
    const plan = chunk === undefined ? [] : decodePlanBlock(chunk.plan);
    return { rows: plan, records: Object.assign({}, ...(chunk?.records ?? [])) };
  };
  return { rows, latency: file.footer.latency };
}

/** The ids of all ledgers in the store, whether the list of realms has them or not. */
export async function storedLedgers(scripts: ScriptClient): Promise<string[]> {
  const keys = await scripts.ask('list ledgers', (redis) => keysLike(redis, 'almoner:{*}'));
  return keys.flatMap((key) => LEDGER.exec(key)?.[1] ?? []).sort();
}

const LEDGER = /^almoner:\{([0-9a-f]{12})\}$/;

/** By SCAN, which holds nobody up. A cluster's keys of one realm lie on one node, and which one is not asked. */
export async function keysLike(
  redis: Redis | Cluster,
  pattern: string,
  isWanted: (key: string) => boolean = () => true,
): Promise<string[]> {
  const nodes = 'nodes' in redis ? redis.nodes('master') : [redis];
  const found = new Set<string>();
  for (const node of nodes)
    for (let cursor = ''; cursor !== '0'; ) {
      const [next, keys] = await node.scan(cursor || '0', 'MATCH', pattern, 'COUNT', 1000);
      for (const key of keys) if (isWanted(key)) found.add(key);
      cursor = next;
    }
  return [...found];
}
