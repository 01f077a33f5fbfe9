import { effectsOf } from '../../core/order.js';
import { presenceOf } from '../../core/presence.js';
import type { RealmProfile } from '../../core/profile.js';
import { allLedgers, lists, planning, type RealmLedger, recovery, steering } from '../../ledger/index.js';
import type { Plan } from '../../planning/plan.js';
import type { EmbeddedRealm } from '../../realm/embedded.js';
import type { App } from '../../runtime/app.js';
import { NAME } from '../batches/batch-realm.js';

const KEPT = 5;

/** Made by `rehearse`, and not the embedded realm that is there without any configuration. */
export function isRehearsal({ name, realmId }: Pick<RealmProfile, 'name' | 'realmId'>): boolean {
  return name === NAME && realmId.startsWith(`${NAME}-`);
}

/** The newest few stay to be looked at; older ones leave the store, members and all. */
export async function dropOldRehearsals(app: App): Promise<void> {
  const rehearsals = (await allLedgers(app.scripts))
    .filter(({ realm }) => isRehearsal(realm))
    .sort((a, b) => a.realm.realmId.localeCompare(b.realm.realmId));
  const old = rehearsals.slice(0, Math.max(0, rehearsals.length - KEPT + 1));
  if (old.length === 0) return;
  // Loaded here: every command that tells of a batch knows what a rehearsal is, and only this one needs its realm.
  const { createRealmAdmin } = await import('../../realm/server/admin.js');
  for (const ledger of old)
    if (!(await isInUse(ledger))) {
      await createRealmAdmin(app.store.ledger).dropRealm(ledger.realm.realmId);
      await forget(app, ledger);
    }
}

async function forget(app: App, ledger: RealmLedger): Promise<void> {
  const { dropQueues } = await import('../../queue/queues.js');
  const runs: string[] = [];
  for await (const { no } of lists.newestFirst(ledger)) runs.push(no);
  const connection = app.store.connect('rehearsals');
  try {
    await dropQueues(ledger, connection, runs);
    await steering.realm.drop(ledger);
  } finally {
    connection.disconnect();
  }
}

async function isInUse(ledger: RealmLedger): Promise<boolean> {
  const { nowMs, signs } = await recovery.sessions.signs(ledger);
  return signs.some((sign) => presenceOf(sign, nowMs) !== 'dead');
}

/**
 * A rehearsal needs members: they are made from the file, each with enough points for what the file takes
 * from it. Members that exist already keep what they have.
 *
 * A million members are not held in memory at once: only those that something is taken from are, and the
 * others are made block by block.
 */
const POCKET_MONEY = 100;

export async function makeMembers({ admin }: EmbeddedRealm, realmId: string, plan: Plan): Promise<void> {
  if (plan.currency !== null) await admin.addCurrencies(realmId, [plan.currency]);
  const taken = takenFrom(plan);
  for (const bytes of plan.blocks) {
    const members = new Set<string>();
    for (const { order } of planning.blocks.decode(bytes))
      if (order !== null) for (const { member } of effectsOf(order)) members.add(member);
    const seeds = [...members].map((member) => ({
      member,
      tokens: Math.min((taken.get(member) ?? 0) + POCKET_MONEY, MOST),
    }));
    await admin.putMembers(realmId, seeds, 'keep', plan.currency);
  }
}

const MOST = Math.floor(Number.MAX_SAFE_INTEGER / 2);

function takenFrom({ totals, blocks }: Plan): Map<string, number> {
  const taken = new Map<string, number>();
  if (totals.orders.debit + totals.orders.transfer === 0) return taken;
  for (const bytes of blocks)
    for (const { order } of planning.blocks.decode(bytes))
      if (order !== null && order.op !== 'credit')
        taken.set(order.member, (taken.get(order.member) ?? 0) + order.tokens);
  return taken;
}
