import { effectsOf } from '../../core/order.js';
import { decodePlanBlock } from '../../ledger/plan-block.js';
import type { Plan } from '../../planning/plan.js';
import type { EmbeddedRealm } from '../../realm/embedded.js';

/**
 * A rehearsal needs members: they are made from the file, each with enough points for what the file takes
 * from it. Members that exist already keep what they have.
 *
 * A million members are not held in memory at once: only those that something is taken from are, and the
 * others are made block by block.
 */
const POCKET_MONEY = 100;

export async function makeMembers(embedded: EmbeddedRealm, realmId: string, plan: Plan): Promise<void> {
  const taken = takenFrom(plan);
  for (const bytes of plan.blocks) {
    const members = new Set<string>();
    for (const { order } of decodePlanBlock(bytes))
      if (order !== null) for (const { member } of effectsOf(order)) members.add(member);
    const seeds = [...members].map((member) => ({
      member,
      tokens: Math.min((taken.get(member) ?? 0) + POCKET_MONEY, MOST),
    }));
    await embedded.admin.putMembers(realmId, seeds, 'keep');
  }
}

const MOST = Number.MAX_SAFE_INTEGER / 2;

function takenFrom({ totals, blocks }: Plan): Map<string, number> {
  const taken = new Map<string, number>();
  if (totals.orders.debit + totals.orders.transfer === 0) return taken;
  for (const bytes of blocks)
    for (const { order } of decodePlanBlock(bytes))
      if (order !== null && order.op !== 'credit')
        taken.set(order.member, (taken.get(order.member) ?? 0) + order.tokens);
  return taken;
}
