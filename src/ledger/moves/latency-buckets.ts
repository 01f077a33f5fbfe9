/** Quarter powers of two from 1 ms: 12 % wide at most, some sixty buckets for any latency. */
export function latencyBucket(ms: number): number {
  return Math.max(0, Math.ceil(4 * Math.log2(Math.max(1, ms))));
}

export function latencyOfBucket(bucket: number): number {
  return 2 ** (bucket / 4);
}
