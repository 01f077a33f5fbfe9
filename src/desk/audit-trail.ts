import { z } from 'zod';
import type { Caller } from '../ledger/caller.js';
import type { AuditPage } from './api-types.js';

/**
 * Who did what at the desk, when and why: every change, signing in and out included. What touches a batch
 * stands in the batch's own audit as well, which reports carry; this one covers the rest and is bounded.
 */
const KEY = 'almoner:desk:audit';
const KEEP_MAX = 10_000;

const entry = z.object({
  at: z.number(),
  who: z.string(),
  what: z.string(),
  why: z.string().nullable(),
  batch: z.string().nullable(),
});
export type DeskAuditEntry = z.infer<typeof entry>;

export class AuditTrail {
  constructor(
    private readonly caller: Caller,
    private readonly now: () => number,
  ) {}

  async write(what: Omit<DeskAuditEntry, 'at'>): Promise<void> {
    const line = JSON.stringify({ at: this.now(), ...what });
    // A line too many after a lost reply is better than one too few.
    await this.ask((redis) => redis.lpush(KEY, line));
    await this.ask((redis) => redis.ltrim(KEY, 0, KEEP_MAX - 1));
  }

  /** Newest first. The cursor counts from the oldest end, so that new entries do not shift the pages. */
  async page(cursor: string | undefined, limit: number): Promise<AuditPage> {
    const length = await this.ask((redis) => redis.llen(KEY));
    const before = cursor === undefined ? length : Math.min(Number(cursor), length);
    const from = length - before;
    const lines = await this.ask((redis) => redis.lrange(KEY, from, from + limit - 1));
    const rest = before - lines.length;
    return {
      entries: lines.map((line) => {
        const read = entry.parse(JSON.parse(line));
        return { ...read, at: new Date(read.at).toISOString() };
      }),
      next: rest > 0 && lines.length > 0 ? String(rest) : null,
    };
  }

  private ask<T>(question: (redis: Caller['redis']) => Promise<T>): Promise<T> {
    return this.caller.patiently('desk audit', () => question(this.caller.redis));
  }
}
