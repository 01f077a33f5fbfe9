import { AlmonerError } from '../../core/errors/error.js';
import type { OrderState } from '../../core/states.js';

import type { BatchRef } from '../realm-ledger.js';
import {
  type AuditEntry,
  type BatchRecord,
  type BatchView,
  decodeAudit,
  type LatencyHistogram,
  type RunSeries,
} from '../views.js';
import { batchSource } from './batch-source.js';
import { readBatch } from './batches.js';
import type { PlanReader } from './plan-reader.js';
import { RecordSnapshot, snapshotRows } from './rows.js';

/** Everything a report is made of, at one moment, also while the batch is running. */

export async function readAudit(ref: BatchRef): Promise<AuditEntry[]> {
  const lines = await (await batchSource(ref)).audit();
  return lines.map(decodeAudit);
}

export async function snapshotBatch(
  ref: BatchRef,
  plans: PlanReader,
  caveats: readonly string[],
): Promise<BatchRecord> {
  const before = await readBatch(ref);
  if (before === undefined)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was never completely imported, so there is nothing to report.`,
      { next: 'Import the file again; it goes on where it stopped.' },
    );
  const rows = before.lastIndex;
  const snapshot = await RecordSnapshot.take(ref, rows);
  const after = (await readBatch(ref)) ?? before;
  const context = { ref, plans, cancelled: after.state === 'cancelled' };
  const source = await batchSource(ref);
  const [latency, run, audit] = await Promise.all([source.latency(), source.run(), readAudit(ref)]);

  let batch: BatchView = after;
  if (before.version !== after.version || before.state !== after.state) {
    // The batch moved while its records were read: the counters belong to another moment than the records.
    // The snapshot is counted itself; it must still tie to the manifest.
    batch = { ...after, ...(await countRows(snapshotRows(context, rows, snapshot))) };
  }
  return {
    batch,
    rows: { [Symbol.asyncIterator]: () => snapshotRows(context, rows, snapshot) },
    audit,
    latency: histogram(latency),
    series: series(run, after),
    caveats: [...caveats, ...(batch.notes ?? [])],
  };
}

async function countRows(rows: AsyncIterable<{ state: OrderState; tokens: number | null }>) {
  const counts: Partial<Record<OrderState, number>> = {};
  const sums: Partial<Record<OrderState, bigint>> = {};
  for await (const { state, tokens } of rows) {
    counts[state] = (counts[state] ?? 0) + 1;
    sums[state] = (sums[state] ?? 0n) + BigInt(tokens ?? 0);
  }
  return { counts, sums };
}

export function histogram(stored: Record<string, string>): LatencyHistogram {
  return Object.entries(stored)
    .map(([bucket, count]) => ({ upToMs: latencyOfBucket(Number(bucket)), count: Number(count) }))
    .sort((a, b) => a.upToMs - b.upToMs);
}

/** What the scripts count in each slice, by their letter. */
const METRICS = { q: 'requests', p: 'paid', f: 'failed', d: 'doubts', l: 'rateLimited' } as const;

function isMetric(letter: string): letter is keyof typeof METRICS {
  return Object.hasOwn(METRICS, letter);
}

export function series(stored: Record<string, string>, batch: BatchView): RunSeries {
  const { sliceMs, createdAt } = batch.manifest;
  const slices = new Map<number, Record<(typeof METRICS)[keyof typeof METRICS], number>>();
  for (const [field, text] of Object.entries(stored)) {
    const [slice = '', letter = ''] = field.split(':');
    const entry = slices.get(Number(slice)) ?? {
      requests: 0,
      paid: 0,
      failed: 0,
      doubts: 0,
      rateLimited: 0,
    };
    if (isMetric(letter)) entry[METRICS[letter]] = Number(text);
    slices.set(Number(slice), entry);
  }
  return {
    sliceMs,
    slices: [...slices]
      .sort(([a], [b]) => a - b)
      .map(([slice, entry]) => ({ at: createdAt + slice * sliceMs, ...entry })),
  };
}

function latencyOfBucket(bucket: number): number {
  return 2 ** (bucket / 4);
}
