import type { BatchReply } from '../../api-types.js';
import { counted, grouped } from '../words/numbers.js';
import { duration } from '../words/times.js';
import { Columns } from './columns.js';

/** How long the realm took to answer, in buckets that widen. */
export function LatencyChart({ latency }: { readonly latency: BatchReply['latency'] }) {
  const first = latency.findIndex(({ count }) => count > 0);
  const last = latency.findLastIndex(({ count }) => count > 0);
  if (first < 0) return <p class="soft chart-none">No request was answered yet.</p>;
  const shown = latency.slice(first, last + 1);
  const total = shown.reduce((sum, { count }) => sum + count, 0);
  const median = upToShare(shown, total, 0.5);
  const slow = upToShare(shown, total, 0.99);
  return (
    <figure>
      <figcaption>
        Answers by time
        <span class="legend">
          half within {reach(median)}, 99 % within {reach(slow)}
        </span>
      </figcaption>
      <Columns
        label={`${counted(total, 'answer')}: half within ${reach(median)}, 99 % within ${reach(slow)}.`}
        from={reach(shown[0]?.upToMs ?? 0)}
        to={reach(shown.at(-1)?.upToMs ?? 0)}
        columns={shown.map(({ upToMs, count }) => ({
          key: upToMs,
          title: `Up to ${reach(upToMs)}: ${grouped(count)}`,
          parts: [{ css: 'f-bucket', value: count }],
        }))}
      />
    </figure>
  );
}

function upToShare(latency: BatchReply['latency'], total: number, share: number): number {
  let seen = 0;
  for (const { upToMs, count } of latency) {
    seen += count;
    if (seen >= total * share) return upToMs;
  }
  return latency.at(-1)?.upToMs ?? 0;
}

/** The last bucket has no upper end; JSON says it as null or a number beyond all time-outs. */
function reach(ms: number | null): string {
  return ms === null || !Number.isFinite(ms) || ms > 3_600_000 ? 'longer' : duration(ms);
}
