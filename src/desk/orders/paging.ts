import { AlmonerError } from '../../core/errors/error.js';
import { type BatchRef, findBatch, lists, type ScriptClient } from '../../ledger/index.js';
import type { ScanPlace } from '../../operations/orders/scan-rows.js';

/** What all pages of orders have in common: a row as it is shown, and the place that the next page goes on from. */
export type Where = { readonly realm?: string | undefined; readonly batch?: string | undefined };

/** Those with dead letters or doubts, newest first within each realm; the order never changes under a cursor but for batches that are new. */
export async function batchesFor(scripts: ScriptClient, { realm, batch }: Where): Promise<BatchRef[]> {
  if (batch !== undefined) return [await findBatch(scripts, batch, realm)];
  return (await lists.everyBatchIn(scripts, ['dead', 'doubts'], realm)).sort(
    (a, b) => compare(a.ledger.id, b.ledger.id) || Number(b.no) - Number(a.no),
  );
}

/** A place and an index, with the state between them where a list is of states. */
export function parseCursor(
  cursor: string,
  states: readonly string[],
): { readonly place: string; readonly state: number; readonly index: number } {
  const match = /^([0-9a-f]+\.[0-9]+)(?:\.([a-z]+))?\.([1-9][0-9]{0,8})$/.exec(cursor);
  const state = states.indexOf(match?.[2] ?? '');
  if (match?.[1] === undefined || (states.length > 0 ? state < 0 : match[2] !== undefined)) throw notOurs();
  return { place: match[1], state, index: Number(match[3]) };
}

/** The place of a scan over many batches. */
export function parseScanCursor(cursor: string): ScanPlace {
  const match = /^([0-9a-f]+\.[0-9]+)\.([1-9][0-9]{0,8})\.([0-9]{1,15})$/.exec(cursor);
  if (match?.[1] === undefined) throw notOurs();
  return { place: match[1], index: Number(match[2]), scanned: Number(match[3]) };
}

function notOurs(): AlmonerError {
  return new AlmonerError('ALM_DESK_BAD_REQUEST', 'The cursor is not one that the desk gave out.');
}

/** Whether the batch comes at or after that place in the order of such a list: the batch of the place may have left it. */
export function isFrom({ ledger, no }: BatchRef, place: string): boolean {
  const [id = '', last] = place.split('.');
  return ledger.id > id || (ledger.id === id && Number(no) <= Number(last));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
