import { AlmonerError } from '../../core/errors/error.js';
import { isMemberId, type MemberId, type OrderId, orderId, undoReference } from '../../core/ids.js';
import { effectsOf, type Order } from '../../core/order.js';
import { idOfBatch, planning, type RealmLedger, type ReferenceHolder, reading } from '../../ledger/index.js';
import type { PacedReads } from '../../runtime/paced-reads.js';

/** What is left to be taken back: of an order after its parts, and of what its member holds. */

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
  plans: reading.PlanReader,
  order: OrderId,
  tokens: number,
): Promise<TakenBack> {
  let [taken, under] = [0, order];
  for (;;) {
    const holder =
      (await planning.references.spent(ledger, [undoReference(under)])).get(undoReference(under)) ?? null;
    if (holder === null || holder.arrivesUntil !== null) return { taken, under, holder };
    const { no, index } = holder;
    if (reading.orders.stateOf(await reading.orders.record({ ledger, no }, index)) !== 'paid')
      return { taken, under, holder };
    const part = (await plans.row(no, index)).order?.tokens ?? 0;
    const batch = await idOfBatch(ledger, no);
    taken += part;
    if (taken >= tokens || part === 0 || batch === null) return { taken, under, holder };
    under = orderId(batch, index);
  }
}

/** A member who holds less than the undo would take, as the realm said when the file was written. */
export type ShortMember = {
  readonly member: MemberId;
  /** What the file would have to take. */
  readonly wanted: bigint;
  /** What the member holds; null: the realm does not know the member. */
  readonly balance: bigint | null;
};

/** What members hold who have to give points back; each is read once, at the realm's pace. */
export class UndoBalances {
  private readonly held = new Map<MemberId, Promise<bigint | null | undefined>>();
  private readonly wanted = new Map<MemberId, bigint>();

  constructor(private readonly read: PacedReads['member']) {}

  /** How much of the order's amount its member still holds, beside what earlier rows of the file take. */
  async left(inverse: Order): Promise<number> {
    const [payer] = effectsOf(inverse).filter(({ delta }) => delta < 0n);
    if (payer === undefined) return inverse.tokens;
    const { member } = payer;
    const before = this.wanted.get(member) ?? 0n;
    this.wanted.set(member, before - payer.delta);
    const held = await this.of(member);
    // A realm that shows no balance leaves the whole amount: its answer will tell.
    if (held === undefined) return inverse.tokens;
    const left = (held ?? 0n) - before;
    if (left <= 0n) return 0;
    return left < BigInt(inverse.tokens) ? Number(left) : inverse.tokens;
  }

  async short(): Promise<ShortMember[]> {
    const found: ShortMember[] = [];
    for (const [member, wanted] of this.wanted) {
      const balance = await this.of(member);
      if (balance === null || (balance !== undefined && balance < wanted))
        found.push({ member, wanted, balance });
    }
    return found;
  }

  private of(member: MemberId): Promise<bigint | null | undefined> {
    const known = this.held.get(member) ?? this.ask(member);
    this.held.set(member, known);
    return known;
  }

  /** Null where the realm does not know the member, undefined where it shows no balance. */
  private async ask(member: MemberId): Promise<bigint | null | undefined> {
    if (!isMemberId(member)) return null;
    try {
      const { balance } = await this.read(member);
      return balance === null ? undefined : BigInt(balance);
    } catch (error) {
      if (error instanceof AlmonerError && error.code === 'ALM_REALM_MEMBER_NOT_FOUND') return null;
      throw error;
    }
  }
}
