import type { Rate } from '../core/profile.js';
import type { BatchView, RunSeries } from '../ledger/views.js';
import type { RunSpan } from './run-facts.js';
import { perMinute } from './spelling.js';

export type PaceUsed = {
  readonly allowed: Rate | null;
  readonly allowedPerMinute: number | null;
  readonly usedPerMinute: number | null;
  /** Used ÷ allowed; 1 is the whole rate. */
  readonly share: number | null;
  /** Time in which requests were under way: pauses and nights do not count. */
  readonly activeMs: number | null;
};

/**
 * The time a run was at work is the slices that saw a request, cut to the span between first and last
 * request: a run of 300 ms must not be measured against a slice of ten seconds.
 */
export function paceUsed(batch: BatchView, series: RunSeries, span: RunSpan | null): PaceUsed {
  const busy = series.slices.filter((slice) => slice.requests > 0).length * series.sliceMs;
  const wall = span === null ? 0 : span.to - span.from;
  const activeMs = busy > 0 && wall > 0 ? Math.min(busy, wall) : Math.max(busy, wall);
  const allowedPerMinute = batch.rate === null ? null : rounded(perMinute(batch.rate));
  const used = activeMs > 0 ? (batch.requests * 60_000) / activeMs : null;
  return {
    allowed: batch.rate,
    allowedPerMinute,
    usedPerMinute: used === null ? null : rounded(used),
    share: used === null || batch.rate === null ? null : rounded(used / perMinute(batch.rate)),
    activeMs: activeMs > 0 ? activeMs : null,
  };
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
