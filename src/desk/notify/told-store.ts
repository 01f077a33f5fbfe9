import { z } from 'zod';
import type { ScriptClient } from '../../ledger/index.js';
import type { Told } from './notice.js';

/** What was told of which batch, and the chat message that stands for it. Gone with its batch. */
const TOLD_KEY = 'almoner:desk:told';
/** Apart from the rest: another step writes it, and neither may overwrite the other's. */
const MESSAGES_KEY = 'almoner:desk:messages';

const stored = z.object({ state: z.string(), doubts: z.number(), lost: z.string().default('') });

export class ToldStore {
  constructor(private readonly scripts: ScriptClient) {}

  async all(): Promise<Map<string, Told>> {
    const found = await this.ask((redis) => redis.hgetall(TOLD_KEY));
    return new Map(Object.entries(found).map(([batch, json]) => [batch, stored.parse(JSON.parse(json))]));
  }

  async put(batch: string, told: Told): Promise<void> {
    await this.ask((redis) => redis.hset(TOLD_KEY, batch, JSON.stringify(told)));
  }

  message(batch: string): Promise<string | null> {
    return this.ask((redis) => redis.hget(MESSAGES_KEY, batch));
  }

  async putMessage(batch: string, message: string): Promise<void> {
    await this.ask((redis) => redis.hset(MESSAGES_KEY, batch, message));
  }

  async forget(batch: string): Promise<void> {
    await this.ask((redis) => redis.hdel(TOLD_KEY, batch));
    await this.ask((redis) => redis.hdel(MESSAGES_KEY, batch));
  }

  private ask<T>(question: (redis: ScriptClient['redis']) => Promise<T>): Promise<T> {
    return this.scripts.retryWhileAway('notices', () => question(this.scripts.redis));
  }
}
