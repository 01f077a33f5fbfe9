import { AlmonerError } from '../../core/errors/error.js';
import { type BatchRef, readBatch } from '../../ledger/batches.js';
import { liveness } from '../../ledger/liveness.js';
import { listSessions } from '../../ledger/sessions.js';
import type { BatchView, Reason } from '../../ledger/views.js';
import { reasonOf } from '../../queue/reasons.js';
import type { ExitStatus } from '../exit-status.js';

/** The one shape in which a batch's standing is told: `run`, `import`, `rehearse`, `status`, the desk. */
export type BatchStatus = {
  readonly batch: string;
  readonly realm: string;
  readonly rehearsal: boolean;
  readonly existing: boolean;
  readonly state: BatchView['state'];
  readonly reason: Reason | null;
  readonly rows: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly tokens: Readonly<Record<string, string>>;
  readonly requests: number;
  readonly retries: number;
  readonly rateLimited: number;
  readonly etaSeconds: number | null;
  readonly report: string | null;
  /** What must be known beside the numbers. */
  readonly notes: readonly string[];
  readonly source: string;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
};

export async function batchStatus(
  ref: BatchRef,
  more: { existing?: boolean; report?: string | null; perSecond?: number | null } = {},
): Promise<BatchStatus> {
  const view = await readBatch(ref);
  if (view === undefined)
    throw new AlmonerError(
      'ALM_BATCH_CANNOT',
      `Batch ${ref.id} was never completely imported. Nothing of it was sent.`,
      {
        next: 'Import the file again, or `almoner cancel` it.',
      },
    );
  const { manifest } = view;
  const interrupted = await isInterrupted(ref, view);
  return {
    batch: manifest.batch,
    realm: manifest.realm,
    rehearsal: manifest.rehearsal,
    existing: more.existing ?? false,
    state: interrupted ? 'paused' : view.state,
    reason: interrupted ? INTERRUPTED : view.reason,
    rows: manifest.rows,
    counts: { ...view.counts },
    tokens: Object.fromEntries(Object.entries(view.sums).map(([state, sum]) => [state, String(sum)])),
    requests: view.requests,
    retries: view.retries,
    rateLimited: view.rateLimited,
    etaSeconds: eta(view, more.perSecond ?? null),
    report: more.report ?? null,
    notes: view.notes ?? [],
    source: manifest.source,
    createdAt: new Date(manifest.createdAt).toISOString(),
    startedAt: iso(view.startedAt),
    finishedAt: iso(view.finishedAt),
  };
}

const INTERRUPTED = reasonOf(
  'ALM_BATCH_INTERRUPTED',
  'The process that was working this run is gone. Nothing is being sent.',
);

/** A run whose process is proven dead stands still, whatever its last word was. */
export async function isInterrupted(
  ref: BatchRef,
  view: BatchView & { readonly owner: string },
): Promise<boolean> {
  if (view.owner === '' || (view.state !== 'running' && view.state !== 'planned')) return false;
  const owner = (await listSessions(ref.books)).find(({ id }) => id === view.owner);
  return owner === undefined || (await liveness(owner)) === 'dead';
}

function eta(view: BatchView, perSecond: number | null): number | null {
  const open = (view.counts.planned ?? 0) + (view.counts.sending ?? 0) + (view.counts.unknown ?? 0);
  if (open === 0) return 0;
  if (view.state !== 'running') return null;
  const settled = view.manifest.rows - open;
  const elapsedSeconds = view.startedAt === null ? 0 : (Date.now() - view.startedAt) / 1000;
  const rate = perSecond ?? (settled > 0 && elapsedSeconds > 1 ? settled / elapsedSeconds : null);
  return rate === null || rate <= 0 ? null : Math.ceil(open / rate);
}

function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** 0 every order paid or duplicate · 4 some dead, in doubt, invalid or cancelled · 5 halted or paused · 130 interrupted */
export function exitOf(status: BatchStatus): ExitStatus {
  const { state, reason, counts } = status;
  if (state === 'halted' || state === 'paused') return reason?.code === 'ALM_BATCH_INTERRUPTED' ? 130 : 5;
  const bad = ['refused', 'exhausted', 'doubt', 'invalid', 'cancelled'].some(
    (name) => (counts[name] ?? 0) > 0,
  );
  return bad || state === 'cancelled' ? 4 : 0;
}
