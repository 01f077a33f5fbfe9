import { batchKeys } from '../keys.js';
import { decodePlanBlock, type PlanRow } from '../plan-block.js';
import { ArchiveFile } from './archive-file.js';
import { archivePath, recordsOfBlock, storeSource } from './batch-source.js';
import type { BatchRef } from './batches.js';

/** What the auditor reads of one batch: its small keys, which tell whether it moves, and its rows block by block. */

/** Everything of a batch but its rows. */
export type Small = Awaited<ReturnType<typeof readSmall>>;

export async function readSmall({ ledger, no }: BatchRef) {
  const keys = batchKeys(ledger.keyPrefix, no);
  return ledger.scripts.ask('read batch', async (redis) => {
    const [meta, counters, attention, due, waiting, holding, open] = await Promise.all([
      redis.hgetall(keys.meta),
      redis.hgetall(keys.counters),
      redis.zrange(keys.attention, 0, '-1', 'WITHSCORES'),
      redis.zrange(keys.due, 0, '-1'),
      redis.hgetall(keys.waiting),
      redis.hgetall(keys.holding),
      redis.sismember(`${ledger.keyPrefix}:open`, no),
    ]);
    return { meta, counters, attention, due, waiting, holding, open };
  });
}

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

/** `say` is told of what is not there. */
export function storedRows(ref: BatchRef, say: (what: string) => void): Rows {
  const source = storeSource(ref);
  return async (block) => {
    const [plan, records] = await Promise.all([source.plan(block), recordsOfBlock(source, block)]);
    if (plan === null) say(`block ${block} of its plan is not there`);
    return { rows: plan === null ? [] : decodePlanBlock(plan), records };
  };
}

/** Reads the whole file once, and fails where its checksum differs. */
export async function archivedRows(
  { ledger, id }: BatchRef,
  sha256: string | undefined,
  say: (what: string) => void,
): Promise<Rows> {
  const file = await ArchiveFile.open(archivePath(ledger.scripts.archiveFolder, ledger.id, id));
  if (file.sha256 !== sha256 || file.footer.batch !== id)
    say('its archive is another one than the store says');
  return async (block) => {
    const chunk = await file.chunk(block);
    if (chunk === undefined) say(`block ${block} is not in its archive`);
    const rows = chunk === undefined ? [] : decodePlanBlock(chunk.plan);
    return { rows, records: Object.assign({}, ...(chunk?.records ?? [])) };
  };
}
