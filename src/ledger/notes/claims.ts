import type { RealmLedger } from '../realm-ledger.js';
import type { ScriptClient } from '../script-client.js';

/** Claims that expire by themselves: they save work that two would do, and nothing safe rests on them. */

const RENEW =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
const RELEASE =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

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
    renew: () => scripts.ask('renew claim', (redis) => redis.eval(RENEW, 1, key, owner, ttlMs)),
    release: () => scripts.ask('release claim', (redis) => redis.eval(RELEASE, 1, key, owner)),
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
