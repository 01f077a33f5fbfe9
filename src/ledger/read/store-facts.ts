import type { RealmLedger } from '../realm-ledger.js';
import { inTime, LATE, type ScriptClient } from '../script-client.js';

/** How the store is, and what a realm's ledger counts over its whole life. */

const PING_MS = 2_000;

/** Whether the store answers now: the one question that is not asked again. One that is frozen refuses nothing. */
export async function pingStore({ redis, answerMs }: ScriptClient): Promise<boolean> {
  return (await inTime(redis.ping(), Math.min(PING_MS, answerMs)).catch(() => LATE)) !== LATE;
}

/** A store that hides INFO is no less up. */
export async function storeInfo(scripts: ScriptClient): Promise<{
  readonly usedBytes: number | null;
  readonly version: string | null;
}> {
  const text = await scripts.ask('read info', (redis) => redis.info()).catch(() => '');
  const used = /^used_memory:(\d+)/m.exec(text)?.[1];
  return {
    usedBytes: used === undefined ? null : Number(used),
    version: /^redis_version:(\S+)/m.exec(text)?.[1] ?? null,
  };
}

/** The tokens sent on the UTC day of that moment. */
export async function tokensOfDay({ scripts, keyPrefix }: RealmLedger, atMs: number): Promise<bigint> {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return BigInt((await scripts.ask('read day', (redis) => redis.hget(`${keyPrefix}:days`, day))) ?? 0);
}

/** Attempts by the status of their answer. */
export function answersByStatus({ scripts, keyPrefix }: RealmLedger): Promise<Record<string, string>> {
  return scripts.ask('read statuses', (redis) => redis.hgetall(`${keyPrefix}:statuses`));
}

/** Slots of the pace that were ever taken, reads included. */
export async function slotsEverTaken({ scripts, keyPrefix }: RealmLedger): Promise<number> {
  return Number(await scripts.ask('read pace', (redis) => redis.hget(`${keyPrefix}:pace`, 'k')));
}
