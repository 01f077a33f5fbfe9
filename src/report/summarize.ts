import type { BatchRecord, Manifest } from '../ledger/views.js';
import { latencyFacts } from './latency.js';
import { paceUsed } from './pace-used.js';
import type { Reconciliation } from './reconciliation.js';
import type { RunFacts } from './run-facts.js';
import { isoTime } from './spelling.js';
import type { Summary } from './summary.js';
import type { FileFacts } from './whole-file.js';

const FAILURES_MAX = 50;

/** summary.json, and the numbers of report.html: both come from this one value and cannot disagree. */
export function summarize(
  record: BatchRecord,
  tie: Reconciliation,
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
    rows: tie.rows,
    counts: { ...tie.counts },
    tokens: mapped(tie.sums, String),
    paid: mapped(facts.paid, ({ orders, tokens }) => ({ orders, tokens: String(tokens) })),
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
    checks: tie.check(batch),
    files: [...files],
  };
}

/** Field by field: whatever the ledger adds to its manifest one day does not slip into a published shape. */
function manifestFacts(manifest: Manifest): Summary['manifest'] {
  return {
    batch: manifest.batch,
    realm: manifest.realm,
    realmId: manifest.realmId,
    baseUrl: manifest.baseUrl,
    rehearsal: manifest.rehearsal,
    certainty: manifest.certainty,
    currency: manifest.currency,
    keyLifetimeMs: manifest.keyLifetimeMs,
    source: manifest.source,
    delimiter: manifest.delimiter,
    header: [...manifest.header],
    rows: manifest.rows,
    orders: { ...manifest.orders },
    tokens: mapped(manifest.tokens, String),
    members: manifest.members,
    duplicates: manifest.duplicates,
    invalid: manifest.invalid,
    sha256: manifest.sha256,
    again: manifest.again,
    inOrder: manifest.inOrder,
    mode: manifest.mode,
    createdAt: isoTime(manifest.createdAt),
    createdBy: manifest.createdBy,
  };
}

function mapped<K extends string, V, W>(record: Readonly<Record<K, V>>, to: (value: V) => W): Record<K, W>;
function mapped<V, W>(record: Readonly<Record<string, V>>, to: (value: V) => W): Record<string, W> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, to(value)]));
}
