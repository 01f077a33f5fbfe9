import { rulesKey } from '../keys.js';
import { askRealm, askScript, type RealmLedger } from '../realm-ledger.js';

/** Times of schedules: what became of each, and the list of missed ones (includes/schedule.lua). */

/** Missed times that are to be listed: the newest in order, and how many came before those. */
export type MissedToNote = {
  readonly zone: string;
  readonly times: readonly (readonly [at: number, period: string, why: string])[];
  readonly older: number;
};

/**
 * Notes what became of a scheduled time; false where somebody else has dealt with it, or it has not come. What was
 * noted with the seal of a batch is noted. `missed`: the times that are listed in the same step.
 */
export async function noteLastRun(
  ledger: RealmLedger,
  rule: string,
  last: object,
  missed: MissedToNote | null = null,
): Promise<boolean> {
  const args = [rule, JSON.stringify(last), JSON.stringify(missed)];
  return (await ledger.scripts.script('note-scheduled', ledger.keyPrefix, args)) === 'ok';
}

/** Lists times that no run will be made for, before the time after them is dealt with. */
export async function noteMissed(ledger: RealmLedger, rule: string, missed: MissedToNote): Promise<void> {
  await ledger.scripts.script('note-missed', ledger.keyPrefix, [rule, JSON.stringify(missed)]);
}

/** Takes times off the list. Returns those that stood there. */
export async function dismissMissed(
  ledger: RealmLedger,
  rule: string,
  times: readonly number[],
  by: object,
): Promise<number[]> {
  return (await askScript(ledger, 'dismiss-missed', [rule, JSON.stringify(by), ...times])).map(Number);
}

export type MissedCount = {
  readonly rule: string;
  readonly times: number;
  readonly oldest: number;
  /** Times that have left the list because it was full. */
  readonly older: number;
};

/** How many missed times stand on the list of each rule; only of rules that have some. */
export async function missedCounts(ledger: RealmLedger): Promise<MissedCount[]> {
  return askRealm(ledger, 'count missed times', async (redis) => {
    const rules = await redis.hgetall(rulesKey(ledger, 'missed'));
    const counts = Object.entries(rules).map(async ([rule, older]) => {
      const key = rulesKey(ledger, `missed:${rule}`);
      const [times, [, oldest]] = await Promise.all([
        redis.zcard(key),
        redis.zrange(key, '0', '0', 'WITHSCORES'),
      ]);
      return { rule, times, oldest: Number(oldest ?? 0), older: Number(older) };
    });
    // A list that a person has emptied meanwhile is none.
    const listed = (await Promise.all(counts)).filter(({ times }) => times > 0);
    return listed.sort((a, b) => a.rule.localeCompare(b.rule));
  });
}

/** The missed times of a rule as JSON, oldest first. */
export async function missedNotes(ledger: RealmLedger, rule: string): Promise<string[]> {
  return askRealm(ledger, 'list missed times', (redis) =>
    redis.zrange(rulesKey(ledger, `missed:${rule}`), '0', '-1'),
  );
}

/** What became of the times of a rule before a moment, as JSON, newest first. */
export async function pastNotes(
  ledger: RealmLedger,
  rule: string,
  before: number,
  limit: number,
): Promise<string[]> {
  return askRealm(ledger, 'list past times', (redis) =>
    redis.zrevrangebyscore(
      rulesKey(ledger, `past:${rule}`),
      `(${before}`,
      '-inf',
      'LIMIT',
      '0',
      String(limit),
    ),
  );
}

/** The rules of which it is known what became of a time. */
export async function rulesWithPast(ledger: RealmLedger): Promise<string[]> {
  return askRealm(ledger, 'list rules with a past', (redis) => redis.smembers(rulesKey(ledger, 'past')));
}

/** Tokens that orders of a rule's period hold, paid or on their way, whichever run they came by. */
export async function heldTokens(ledger: RealmLedger, accounts: readonly string[]): Promise<string[]> {
  if (accounts.length === 0) return [];
  const held = await askRealm(ledger, 'read accounts', (redis, T) => redis.hmget(`${T}:held`, ...accounts));
  return held.map((tokens) => tokens ?? '0');
}

/** When the store was last found to have forgotten something; null where it never was. */
export async function forgotAt(ledger: RealmLedger): Promise<number | null> {
  const at = await askRealm(ledger, 'read rollback', (redis, T) => redis.hget(T, 'forgotAt'));
  return at === null ? null : Number(at);
}
