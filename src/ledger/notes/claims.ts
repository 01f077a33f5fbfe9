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
