import type { BatchId } from '../../core/ids.js';
import { whereabouts } from '../here/liveness.js';
import { batchKeys } from '../keys.js';
import { askRealm, type BatchPlace, type BatchRef, batchFacts, type RealmLedger } from '../realm-ledger.js';
import {
  type BatchView,
  decodeManifest,
  type LatencyHistogram,
  type Manifest,
  type RunSeries,
} from '../views.js';
import { storeSource } from './batch-source.js';
import { batchNumber } from './batches.js';
import { histogram, series } from './snapshot.js';

/** Single facts of a batch, for those who need no whole view of it. */

/** The number of the batch with this content; null where there is none. */
export function batchOfContent({ scripts, keyPrefix }: RealmLedger, content: string): Promise<string | null> {
  return scripts.ask('find batch', (redis) => redis.hget(`${keyPrefix}:content`, content));
}

/** Null while its import is not sealed. */
export async function sealedManifest(ledger: RealmLedger, no: string): Promise<Manifest | null> {
  const [manifest] = await batchFacts({ ledger, no }, 'manifest');
  return manifest == null ? null : decodeManifest(manifest);
}

/** A batch of whose orders a row may speak; null where there is none, or only an import that has not finished. */
export async function sealedBatch(ledger: RealmLedger, id: BatchId) {
  const no = await batchNumber(ledger, id);
  const manifest = no === null ? null : await sealedManifest(ledger, no);
  if (no === null || manifest === null) return null;
  const [rows] = await batchFacts({ ledger, no }, 'rows');
  return { no, rows: Number(rows ?? 0), currency: manifest.currency };
}

/**
 * Where an import stands. Null where it is gone, also from a recovered batch, or its number stands for another batch
 * since a rollback.
 */
export async function importState(ref: BatchRef): Promise<'importing' | 'sealed' | null> {
  const [state, id, recovered, importer] = await batchFacts(ref, 'state', 'id', 'recovered', 'importer');
  if (state == null || id !== ref.id) return null;
  if (recovered === '1') return importer == null || state === 'cancelled' ? null : 'importing';
  return state === 'importing' ? state : 'sealed';
}

/** An import that was begun and never sealed. */
export type BegunImport = {
  readonly content: string;
  readonly blocks: number;
  readonly createdAt: number;
  /** Orders of the same batch that were recovered stay when the import is taken back. */
  readonly recovered: boolean;
  /** Its process is known to be dead. */
  readonly dead: boolean;
};

/** Null where nothing of the batch is being imported. */
export async function begunImport(ref: BatchPlace): Promise<BegunImport | null> {
  const [state, content, blocks, createdAt, recovered, importer, at] = await batchFacts(
    ref,
    'state',
    'content',
    'blocks',
    'createdAt',
    'recovered',
    'importer',
    'importerAt',
  );
  if (state !== 'importing' && !(recovered === '1' && importer != null)) return null;
  const { here } = ref.ledger.scripts;
  return {
    content: content ?? '',
    blocks: Number(blocks ?? 0),
    createdAt: Number(createdAt ?? 0),
    recovered: recovered === '1',
    dead: at != null && at !== '' && (await here.liveness(whereabouts.parse(JSON.parse(at)))) === 'dead',
  };
}

/** The orders that were over and were retried, or put right by a journal, and at which number of the realm's seals. */
export async function retriedOrders({ ledger, no }: BatchPlace): Promise<ReadonlyMap<number, number>> {
  const found = await askRealm(ledger, 'read retries', (redis, T) => redis.hgetall(batchKeys(T, no).again));
  return new Map(Object.entries(found).map(([index, seals]) => [Number(index), Number(seals)]));
}

/** The number of its seal among the realm's; null where it was put back, and knew nothing when it was sealed. */
export async function sealNumber(ledger: RealmLedger, no: string): Promise<number | null> {
  const [seal, putBack] = await batchFacts({ ledger, no }, 'seal', 'putBack');
  return putBack === '1' ? null : Number(seal);
}

/**
 * The rows of a batch that may leave the store: it ended before that moment. Null when it is not due; one that was
 * archived but has rows left in the store is due at once.
 */
export async function rowsToArchive(ref: BatchPlace, endedBefore: number): Promise<number | null> {
  const [state, finishedAt, rows, purged] = await batchFacts(ref, 'state', 'finishedAt', 'rows', 'purged');
  if (state === 'archived') return purged === '1' ? null : Number(rows);
  if (state !== 'done' && state !== 'cancelled') return null;
  return finishedAt != null && Number(finishedAt) <= endedBefore ? Number(rows) : null;
}

/** How many of its orders are dispatched and not settled. */
export function dispatchedOf({ ledger, no }: BatchPlace): Promise<number> {
  return askRealm(ledger, 'count dispatched', (redis, T) => redis.zcard(batchKeys(T, no).due));
}

/** The latencies of a batch in the store. */
export async function batchLatency(place: BatchPlace): Promise<LatencyHistogram> {
  return histogram(await storeSource(place).latency());
}

/** The chart of a batch in the store. */
export async function batchSeries(place: BatchPlace, view: BatchView): Promise<RunSeries> {
  return series(await storeSource(place).run(), view);
}

/** How long the run was coming to ends: slices in which nothing did are time in which it stood still. */
export async function settlingMs(ref: BatchRef, sliceMs: number): Promise<number> {
  const fields = await askRealm(ref.ledger, 'read run', (redis, T) => redis.hkeys(batchKeys(T, ref.no).run));
  const slices = fields.flatMap((field) => (/:[pfd]$/.test(field) ? [Number(field.slice(0, -2))] : []));
  return busyMs(
    slices.map((slice) => slice * sliceMs),
    sliceMs,
  );
}

/** The time of slices that begin at these moments; of those finer than a second, the seconds that they fall into. */
export function busyMs(moments: readonly number[], sliceMs: number): number {
  const stepMs = Math.max(1_000, sliceMs);
  return new Set(moments.map((at) => Math.floor(at / stepMs))).size * stepMs;
}
