import type { LatencyHistogram } from '../ledger/views.js';

/**
 * The ledger counts latencies in buckets of its own; a Prometheus histogram is written from them directly,
 * because prom-client's can only observe one value at a time. A bucket that straddles a bound counts for the
 * next one: latencies are never shown better than they were.
 */
const NAME = 'almoner_request_seconds';
const BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export class LatencyFamily {
  text(batches: readonly { readonly realm: string; readonly histogram: LatencyHistogram }[]): string {
    const realms = [...new Set(batches.map(({ realm }) => realm))];
    return [
      `# HELP ${NAME} Latency of requests for orders, by realm.`,
      `# TYPE ${NAME} histogram`,
      ...realms.flatMap((realm) =>
        series(
          realm,
          batches.filter((batch) => batch.realm === realm).flatMap(({ histogram }) => histogram),
        ),
      ),
      '',
    ].join('\n');
  }
}

function series(realm: string, buckets: LatencyHistogram): string[] {
  const label = `realm="${realm.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`))}"`;
  const upTo = (seconds: number) =>
    buckets.reduce((sum, { upToMs, count }) => (upToMs <= seconds * 1000 ? sum + count : sum), 0);
  const count = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  const sum = buckets.reduce((all, bucket) => all + (bucket.upToMs / 1000) * bucket.count, 0);
  return [
    ...BOUNDS_SECONDS.map((bound) => `${NAME}_bucket{le="${bound}",${label}} ${upTo(bound)}`),
    `${NAME}_bucket{le="+Inf",${label}} ${count}`,
    `${NAME}_sum{${label}} ${sum}`,
    `${NAME}_count{${label}} ${count}`,
  ];
}
