import { z } from 'zod';
import type { RealmLedger } from '../realm-ledger.js';
import { listFromLua } from '../script-client.js';

/** What rows say of earlier orders: that they stand in for them, or undo them. The scripts judge it. */

/** A row may not stand in for this order, or undo it; `why` as includes/earlier.lua puts it. */
export type EarlierConflict = {
  readonly kind: 'replaces' | 'undoes';
  readonly row: number;
  readonly no: string;
  readonly index: number;
  readonly why: string;
};

/** An earlier order of which a row speaks, and the row's index. */
export type EarlierOrder = readonly [no: string, index: string, row: string];

export const earlierEntry = z
  .tuple([z.enum(['replaces', 'undoes']), z.string(), z.string(), z.string(), z.string()])
  .transform(
    ([kind, row, no, index, why]): EarlierConflict => ({
      kind,
      row: Number(row),
      no,
      index: Number(index),
      why,
    }),
  );

/** What the put would say of rows that stand in for these orders; an import that has not finished takes none yet. */
export async function judgeReplaced(
  ledger: RealmLedger,
  orders: readonly EarlierOrder[],
): Promise<EarlierConflict[]> {
  if (orders.length === 0) return [];
  const reply = await ledger.scripts.script('judge-replaced', ledger.keyPrefix, [JSON.stringify(orders)]);
  return listFromLua(z.string().parse(reply)).map((entry) => earlierEntry.parse(entry));
}
