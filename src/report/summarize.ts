import type { Rate } from '../core/profile.js';
import { type BatchRecord, type BatchView, type Manifest, reading } from '../ledger/index.js';
import { percentile } from '../words/charts.js';
import { isoTime } from '../words/spelling.js';
import type { Reconciliation } from './reconciliation.js';
import type { RunFacts, RunSpan } from './run-facts.js';
import type { FileFacts } from './staging.js';
import { type Summary, SummaryManifest } from './summary.js';

const FAILURES_MAX = 50;

/** Computes the numbers of summary.json and report.html. Both use this one value, so they cannot disagree. */
export function summarize(
  record: BatchRecord,
  reconciliation: Reconciliation,
  facts: RunFacts,
  files: readonly FileFacts[],
): Summary {
  const { batch } = record;
  const { activeMs, ...pace } = paceUsed(batch, record.series, facts.span);
  const { startedAt, finishedAt } = batch;
  return {
    format: 1,
    batch: batch.manifest.batch,
    realm: batch.manifest.realm,
    rehearsal: batch.manifest.rehearsal,
    state: batch.state,
    reason: batch.reason,
    asOf: isoTime(facts.asOf(batch, record.audit, record.series)),
    manifest: manifestFacts(batch.manifest),
    rows: reconciliation.rows,
    counts: { ...reconciliation.counts },
    tokens: mapped(reconciliation.sums, String),
    paid: mapped(facts.paid, ({ orders, tokens }) => ({ orders, tokens: String(tokens) })),
    net: String(facts.paid.credit.tokens - facts.paid.debit.tokens),
    marks: { ...facts.marks },
    requests: batch.requests,
    retries: batch.retries,
    rateLimited: batch.rateLimited,
    latencyMs: latencyFacts(record.latency),
    pace,
    startedAt: isoTime(startedAt),
    finishedAt: isoTime(finishedAt),
    durationMs: startedAt === null || finishedAt === null ? null : finishedAt - startedAt,
    activeMs,
    failures: facts.failing
      .list()
      .slice(0, FAILURES_MAX)
      .map(({ code, message, count }) => ({ code, message, count })),
    caveats: [...record.caveats],
    checks: reconciliation.check(),
    files: [...files],
  };
}

function manifestFacts({ tokens, createdAt, ...manifest }: Manifest): Summary['manifest'] {
  return SummaryManifest.parse({
    ...manifest,
    tokens: mapped(tokens, String),
    createdAt: isoTime(createdAt),
  });
}

function mapped<K extends string, V, W>(record: Readonly<Record<K, V>>, to: (value: V) => W): Record<K, W>;
function mapped<V, W>(record: Readonly<Record<string, V>>, to: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
}

/** The percentiles of the answer times. */
export function latencyFacts(latency: BatchRecord['latency']): Summary['latencyMs'] {
  return {
    count: latency.reduce((sum, { count }) => sum + count, 0),
    p50: percentile(latency, 0.5),
    p90: percentile(latency, 0.9),
    p99: percentile(latency, 0.99),
    max: percentile(latency, 1),
  };
}

/**
 * The pace that the run used. The active time is the slices that saw a request, cut to the span between the first and
 * the last request. Without the cut, a run of 300 ms would be measured against a slice of ten seconds. Such a short
 * run has no rate either: two requests in 30 ms are not 4,000 a minute.
 */
export function paceUsed(
  batch: BatchView,
  series: BatchRecord['series'],
  span: RunSpan | null,
): Summary['pace'] & Pick<Summary, 'activeMs'> {
  const sending = series.slices.filter((slice) => slice.requests > 0).map(({ at }) => at);
  const busy = reading.progress.busyMs(sending, series.sliceMs);
  const wall = span === null ? 0 : span.to - span.from;
  const activeMs = busy > 0 && wall > 0 ? Math.min(busy, wall) : Math.max(busy, wall);
  const allowed = batch.rate === null ? null : perMinute(batch.rate);
  // Between the first and the last request there is one pause less than there are requests.
  const steps = activeMs === wall ? batch.requests - 1 : batch.requests;
  const used = activeMs >= RATE_FROM_MS && steps > 1 ? (steps * 60_000) / activeMs : null;
  return {
    allowed: batch.rate,
    allowedPerMinute: allowed === null ? null : rounded(allowed),
    usedPerMinute: used === null ? null : rounded(used),
    share: used === null || allowed === null ? null : rounded(used / allowed),
    activeMs: activeMs > 0 ? activeMs : null,
  };
}

const RATE_FROM_MS = 1_000;

function perMinute(rate: Rate): number {
  return (rate.requests * 60_000) / rate.windowMs;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
