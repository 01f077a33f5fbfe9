import type { RealmLedger } from '../realm-ledger.js';
import type { ScriptClient } from '../script-client.js';

/** Claims that expire by themselves: they save work that two would do, and nothing safe rests on them. */

/**
 * Keeps a second scheduler from reading the same facts at the same time. It saves requests and is no guard
 * against paying twice: that is the period's reference, so that a claim may expire without harm.
 */
export async function claimRule(ledger: RealmLedger, rule: string, owner: string, ttlMs: number) {
  const { scripts } = ledger;
  const key = `${ledger.keyPrefix}:rules:claim:${rule}`;
  const taken = await scripts.ask('claim rule', (redis) => redis.set(key, owner, 'PX', ttlMs, 'NX'));
  if (taken === null) return undefined;
  return {
    renew: () => scripts.ask('renew claim', () => scripts.once('renew-claim', [key], [owner, ttlMs])),
    release: () => scripts.ask('release claim', () => scripts.once('release-claim', [key], [owner])),
  };
}

/** Whether nobody else has taken this turn within that time. */
export async function takeTurn(
  scripts: ScriptClient,
  what: 'archiving' | 'notices',
  everyMs: number,
): Promise<boolean> {
  const take = (redis: ScriptClient['redis']) => redis.set(`almoner:${what}`, '1', 'PX', everyMs, 'NX');
  return (await scripts.ask(`turn of ${what}`, take)) === 'OK';
}

/**
 * Batches of the workers that have ended and whose report is still to be written (includes/batches.lua): `<no>:<version>`,
 * so that one which was retried and has ended again meanwhile is not taken for reported.
 */
export type EndedBatch = { readonly entry: string; readonly no: string };

const keyOf = ({ keyPrefix }: RealmLedger) => `${keyPrefix}:reports`;

export async function endedBatches(ledger: RealmLedger): Promise<EndedBatch[]> {
  const found = await ledger.scripts.ask('list ended', (redis) => redis.smembers(keyOf(ledger)));
  return found.map((entry) => ({ entry, no: entry.split(':')[0] ?? '' }));
}

/** Whether nobody else is at it: two would only do the work twice, and who fails or dies is followed after that time. */
export async function takeReportTurn(ledger: RealmLedger, ended: EndedBatch, seconds: number) {
  const key = `${keyOf(ledger)}:${ended.entry}`;
  const taken = await ledger.scripts.ask('take a turn', (redis) => redis.set(key, '1', 'EX', seconds, 'NX'));
  return taken === 'OK';
}

export async function forgetEnded(ledger: RealmLedger, { entry }: EndedBatch): Promise<void> {
  await ledger.scripts.ask('note reported', (redis) => redis.srem(keyOf(ledger), entry));
}
