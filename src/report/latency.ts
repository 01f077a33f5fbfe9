import type { LatencyHistogram } from '../ledger/views.js';

/**
 * Percentiles from buckets: the upper bound of the bucket that holds the rank, so never smaller than the
 * truth. Null where nothing was measured, or where the rank lies in a bucket without a bound.
 */
export type LatencyFacts = {
  readonly count: number;
  readonly p50: number | null;
  readonly p90: number | null;
  readonly p99: number | null;
  readonly max: number | null;
};

export function latencyFacts(histogram: LatencyHistogram): LatencyFacts {
  const buckets = [...histogram].sort((a, b) => a.upToMs - b.upToMs);
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const atRank = (share: number): number | null => {
    let left = Math.ceil(count * share);
    if (left === 0) return null;
    for (const bucket of buckets) {
      left -= bucket.count;
      if (left <= 0) return Number.isFinite(bucket.upToMs) ? bucket.upToMs : null;
    }
    return null;
  };
  return { count, p50: atRank(0.5), p90: atRank(0.9), p99: atRank(0.99), max: atRank(1) };
}
