import type { ScriptClient } from '../script-client.js';

/** What the desk keeps: sessions, which expire, and the audit of all that people change. */

const SESSION = 'almoner:desk:session:';
/** All sessions of one token, by its hash. */
const OF_TOKEN = 'almoner:desk:sessions:';
const AUDIT = 'almoner:desk:audit';

/** Documents that expire when nobody has asked for them for a while, each one of a group. */
export class ExpiringNotes {
  constructor(
    private readonly scripts: ScriptClient,
    private readonly idleMs: number,
    private readonly groupMs: number,
  ) {}

  /** Where one group has too many, those end that were idle longest: they would expire first. */
  async put(id: string, group: string, note: string, groupMax: number): Promise<void> {
    const members = `${OF_TOKEN}${group}`;
    await this.ask((redis) => redis.set(`${SESSION}${id}`, note, 'PX', this.idleMs));
    await this.ask((redis) => redis.sadd(members, `${SESSION}${id}`));
    await this.ask((redis) => redis.pexpire(members, this.groupMs));
    const keys = await this.ask((redis) => redis.smembers(members));
    if (keys.length <= groupMax) return;
    const left = await Promise.all(
      keys.map(async (key) => ({ key, ms: await this.ask((redis) => redis.pttl(key)) })),
    );
    left.sort((one, other) => other.ms - one.ms);
    for (const { key } of left.slice(groupMax)) await this.end(key.slice(SESSION.length), group);
  }

  /** Kept alive by being asked for. */
  touch(id: string): Promise<string | null> {
    return this.ask((redis) => redis.getex(`${SESSION}${id}`, 'PX', this.idleMs));
  }

  async end(id: string, group: string): Promise<void> {
    await this.ask((redis) => redis.del(`${SESSION}${id}`));
    await this.ask((redis) => redis.srem(`${OF_TOKEN}${group}`, `${SESSION}${id}`));
  }

  private ask<T>(question: (redis: ScriptClient['redis']) => Promise<T>): Promise<T> {
    return this.scripts.ask('desk session', question);
  }
}

/** A list for each rank. */
function auditKey(rank: string): string {
  return `${AUDIT}:${rank}`;
}

/** A line too many after a lost reply is better than one too few. */
export async function appendDeskAudit(
  scripts: ScriptClient,
  rank: string,
  line: string,
  keepMax: number | null,
): Promise<void> {
  const key = auditKey(rank);
  await scripts.ask('desk audit', (redis) => redis.lpush(key, line));
  if (keepMax !== null) await scripts.ask('desk audit', (redis) => redis.ltrim(key, 0, keepMax - 1));
}

/** Newest first, from `before` counted from the oldest end, so that new lines do not shift the pages. */
export async function readDeskAudit(
  scripts: ScriptClient,
  rank: string,
  given: number | undefined,
  limit: number,
): Promise<{ before: number; lines: string[] }> {
  const key = auditKey(rank);
  const length = await scripts.ask('desk audit', (redis) => redis.llen(key));
  const before = Math.min(given ?? length, length);
  const from = length - before;
  const lines = await scripts.ask('desk audit', (redis) => redis.lrange(key, from, from + limit - 1));
  return { before, lines };
}
