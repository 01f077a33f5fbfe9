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

type LetterTimes = {
  /** Null: it has ended. */
  readonly dueMs: number | null;
  readonly nowMs: number;
  /** How many that have ended are kept. */
  readonly keepMax: number;
};

export class OutboxNotes {
  constructor(private readonly scripts: ScriptClient) {}

  /** `dueMs` null: it has ended already, and is put for the record. */
  async put(id: string, letter: string, writtenMs: number, dueMs: number | null): Promise<void> {
    await this.script('put-letter', id, letter, writtenMs, dueMs ?? '');
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
    return (await this.script('claim-letter', id, dueMs, untilMs)) === 1;
  }

  /** False where it is not there any more. */
  async write(id: string, letter: string, { dueMs, nowMs, keepMax }: LetterTimes): Promise<boolean> {
    return (await this.script('write-letter', id, letter, dueMs ?? '', nowMs, keepMax)) === 1;
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

  private script(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.ask(() => this.scripts.once(name, KEYS, args));
  }

  private ask<T>(question: (redis: ScriptClient['redis']) => Promise<T>): Promise<T> {
    return this.scripts.ask('outbox', question);
  }
}
