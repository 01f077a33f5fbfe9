import { type OrderId, orderId, undoReference } from '../../core/ids.js';
import {
  findSpent,
  idOfBatch,
  type PlanReader,
  type RealmLedger,
  type ReferenceHolder,
  readRecord,
  stateOf,
} from '../../ledger/index.js';

/**
 * An order that was taken back in part. The part stands under `undo:ORDER`, the next one under `undo:` and the part before
 * it, and so on: each reference is held by one order at a time, so that no part is taken twice.
 */
export type TakenBack = {
  /** Tokens of all parts that were paid. */
  readonly taken: number;
  /** The order whose undo the rest stands under: the order itself, or its last part. */
  readonly under: OrderId;
  /** Who keeps that undo now; null: nobody. */
  readonly holder: ReferenceHolder | null;
};

export async function takenBack(
  ledger: RealmLedger,
  plans: PlanReader,
  order: OrderId,
  tokens: number,
): Promise<TakenBack> {
  let [taken, under] = [0, order];
  for (;;) {
    const holder = (await findSpent(ledger, [undoReference(under)])).get(undoReference(under)) ?? null;
    if (holder === null || holder.arrivesUntil !== null) return { taken, under, holder };
    const { no, index } = holder;
    if (stateOf(await readRecord({ ledger, no }, index)) !== 'paid') return { taken, under, holder };
    const part = (await plans.row(no, index)).order?.tokens ?? 0;
    const batch = await idOfBatch(ledger, no);
    taken += part;
    if (taken >= tokens || part === 0 || batch === null) return { taken, under, holder };
    under = orderId(batch, index);
  }
}
