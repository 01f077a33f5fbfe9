import { AlmonerError } from '../../core/errors/error.js';
import { type BatchRef, batchLatency, batchSeries, findBatch, readBatch } from '../../ledger/index.js';
import type { BatchAction, BatchReply, BatchSummary } from '../api/index.js';
import type { DeskDeps } from '../deps.js';
import type { OverviewBoard } from './overview.js';

/** One batch with its manifest and the charts of its run: a handful of small reads, whatever its size. */
export async function batchReply(parts: DeskDeps, board: OverviewBoard, wanted: string): Promise<BatchReply> {
  return describeBatch(board, await findBatch(parts.scripts, wanted));
}

export async function describeBatch(board: OverviewBoard, ref: BatchRef): Promise<BatchReply> {
  const view = await sealedBatch(ref);
  const [latency, series, summary] = await Promise.all([
    batchLatency(ref),
    batchSeries(ref, view),
    board.summaryOf({ ref, view, dispatched: 0 }),
  ]);
  const { manifest } = view;
  const { credit, debit, transfer } = manifest.tokens;
  return {
    summary,
    manifest: {
      realmId: manifest.realmId,
      baseUrl: manifest.baseUrl,
      certainty: manifest.certainty,
      currency: manifest.currency,
      header: manifest.header,
      orders: manifest.orders,
      tokens: { credit: String(credit), debit: String(debit), transfer: String(transfer) },
      members: manifest.members,
      duplicates: manifest.duplicates,
      invalid: manifest.invalid,
      sha256: manifest.sha256,
      again: manifest.again,
      inOrder: manifest.inOrder,
    },
    latency,
    series,
    can: actionsOn(summary),
  };
}

export async function sealedBatch(ref: BatchRef) {
  const view = await readBatch(ref);
  if (view !== undefined) return view;
  throw new AlmonerError('ALM_BATCH_NOT_FOUND', `Batch ${ref.id} was never completely imported.`);
}

function actionsOn({ state, counts }: BatchSummary): BatchAction[] {
  const over = state === 'done' || state === 'cancelled';
  return [
    ...(state === 'running' || state === 'planned' ? (['pause'] as const) : []),
    ...(state === 'paused' || state === 'halted' ? (['resume'] as const) : []),
    ...(over ? [] : (['cancel'] as const)),
    'report',
    ...(state !== 'running' && (counts.paid ?? 0) > 0 ? (['undo'] as const) : []),
  ];
}
