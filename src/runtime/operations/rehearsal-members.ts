import { effectsOf, type Order } from '../../core/order.js';
import type { Plan } from '../../intake/plan.js';
import { decodePlanBlock } from '../../ledger/plan-block.js';
import type { EmbeddedRealm } from '../../realm/embedded.js';

/**
 * A rehearsal needs members: they are made from the file, each with enough points for what the file takes
 * from it. Members that exist already keep what they have.
 */
const POCKET_MONEY = 100;

export async function makeMembers(embedded: EmbeddedRealm, realmId: string, plan: Plan): Promise<void> {
  const needs = new Map<string, number>();
  for (const bytes of plan.blocks)
    for (const { order } of decodePlanBlock(bytes)) if (order !== null) addNeeds(needs, order);
  const seeds = [...needs].map(([member, outgoing]) => ({
    member,
    tokens: Math.min(outgoing + POCKET_MONEY, MOST),
  }));
  await embedded.admin.putMembers(realmId, seeds, 'keep');
}

const MOST = Number.MAX_SAFE_INTEGER / 2;

function addNeeds(needs: Map<string, number>, order: Order): void {
  for (const { member, delta } of effectsOf(order))
    needs.set(member, (needs.get(member) ?? 0) + (delta < 0n ? Number(-delta) : 0));
}
