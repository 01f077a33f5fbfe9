import { AlmonerError } from '../../core/errors/error.js';
import { type BatchRef, findBatch, lists, type ScriptClient } from '../../ledger/index.js';
import type { ScanPlace } from '../../operations/orders/scan-rows.js';

/** The filter by realm and batch that every page of orders shares. */
export type Where = { readonly realm?: string | undefined; readonly batch?: string | undefined };

/**
 * Batches with dead letters or doubts, newest first within each realm. Under a cursor only new batches change this
 * order.
 */
export async function batchesFor(scripts: ScriptClient, { realm, batch }: Where): Promise<BatchRef[]> {
  if (batch !== undefined) return [await findBatch(scripts, batch, realm)];
  return (await lists.everyBatchIn(scripts, ['dead', 'doubts'], realm)).sort(
    (a, b) => compare(a.ledger.id, b.ledger.id) || Number(b.no) - Number(a.no),
  );
}

/** Reads a cursor: a batch's position and an index, with the state between them for a list by state. */
export function parseCursor(
  cursor: string,
  states: readonly string[],
): { readonly place: string; readonly state: number; readonly index: number } {
  const match = /^([0-9a-f]+\.[0-9]+)(?:\.([a-z]+))?\.([1-9][0-9]{0,8})$/.exec(cursor);
  const state = states.indexOf(match?.[2] ?? '');
  if (match?.[1] === undefined || (states.length > 0 ? state < 0 : match[2] !== undefined)) throw notOurs();
  return { place: match[1], state, index: Number(match[3]) };
}

/** Reads the position of a scan over many batches. */
export function parseScanCursor(cursor: string): ScanPlace {
  const match = /^([0-9a-f]+\.[0-9]+)\.([1-9][0-9]{0,8})\.([0-9]{1,15})$/.exec(cursor);
  if (match?.[1] === undefined) throw notOurs();
  return { place: match[1], index: Number(match[2]), scanned: Number(match[3]) };
}

function notOurs(): AlmonerError {
  return new AlmonerError('ALM_DESK_BAD_REQUEST', 'The cursor is not one that the desk gave out.');
}

/** True for a batch at or after that position. The batch at the position itself may have left the list. */
export function isFrom({ ledger, no }: BatchRef, place: string): boolean {
  const [id = '', last] = place.split('.');
  return ledger.id > id || (ledger.id === id && Number(no) <= Number(last));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
