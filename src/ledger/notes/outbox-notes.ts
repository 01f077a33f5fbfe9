import type { ScriptClient } from '../script-client.js';

/**
 * Letters that must leave some time: each is a document under an id, due at a time. One that has ended stays for whoever
 * asks what became of it, until many newer ones have ended. All in one slot, so that a script may touch what it changes
 * together.
 */
const LETTERS = '{almoner:outbox}:letters';
const DUE = '{almoner:outbox}:due';
const WRITTEN = '{almoner:outbox}:written';
const ENDED = '{almoner:outbox}:ended';
const KEYS = [LETTERS, DUE, WRITTEN, ENDED] as const;

/** An id that is known is left as it is: whoever is not sure whether it was put puts it again. */
const PUT = `
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
if ARGV[4] ~= '' then redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1]) else redis.call('ZADD', KEYS[4], ARGV[3], ARGV[1]) end
return 1`;

const CLAIM = `
if redis.call('ZSCORE', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return 1`;

const WRITE = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
  redis.call('ZREM', KEYS[4], ARGV[1])
  return 1
end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[4], ARGV[4], ARGV[1])
local old = redis.call('ZRANGE', KEYS[4], 0, -1 - tonumber(ARGV[5]))
for _, id in ipairs(old) do
  redis.call('HDEL', KEYS[1], id)
  redis.call('ZREM', KEYS[3], id)
  redis.call('ZREM', KEYS[4], id)
end
return 1`;

export class OutboxNotes {
  constructor(private readonly scripts: ScriptClient) {}

  /** `dueMs` null: it has ended already, and is put for the record. */
  async put(id: string, letter: string, writtenMs: number, dueMs: number | null): Promise<void> {
    await this.run(PUT, id, letter, writtenMs, dueMs ?? '');
  }

  async due(nowMs: number, limit: number): Promise<{ readonly id: string; readonly dueMs: string }[]> {
    const found = await this.ask((redis) =>
      redis.zrangebyscore(DUE, 0, nowMs, 'WITHSCORES', 'LIMIT', 0, limit),
    );
    return Array.from({ length: found.length / 2 }, (_, at) => ({
      id: found[2 * at] ?? '',
      dueMs: found[2 * at + 1] ?? '',
    }));
  }

  /** Keeps others from sending it until then; false where somebody else was quicker. */
  async claim(id: string, dueMs: string, untilMs: number): Promise<boolean> {
    return (await this.run(CLAIM, id, dueMs, untilMs)) === 1;
  }

  /** False where it is not there any more. */
  async write(id: string, letter: string, dueMs: number | null, nowMs: number, keepMax: number) {
    return (await this.run(WRITE, id, letter, dueMs ?? '', nowMs, keepMax)) === 1;
  }

  get(id: string): Promise<string | null> {
    return this.ask((redis) => redis.hget(LETTERS, id));
  }

  /** Newest first. */
  async page(from: number, limit: number): Promise<string[]> {
    const ids = await this.ask((redis) => redis.zrevrange(WRITTEN, from, from + limit - 1));
    if (ids.length === 0) return [];
    const found = await this.ask((redis) => redis.hmget(LETTERS, ...ids));
    return found.filter((letter) => letter !== null);
  }

  async waiting(): Promise<number> {
    return this.ask((redis) => redis.zcard(DUE));
  }

  private run(script: string, ...args: (string | number)[]): Promise<unknown> {
    return this.ask((redis) => redis.eval(script, KEYS.length, ...KEYS, ...args));
  }

  private ask<T>(question: (redis: ScriptClient['redis']) => Promise<T>): Promise<T> {
    return this.scripts.ask('outbox', question);
  }
}
