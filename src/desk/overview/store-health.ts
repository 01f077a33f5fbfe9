import type { Redis } from 'ioredis';
import type { Overview } from '../api-types.js';

/** Whether the store answers, how fast, and how full it is. A store that hides INFO is no less up. */
const INFO_EVERY_MS = 10_000;

export class StoreHealth {
  private info: { at: number; usedBytes: number | null; version: string | null } | null = null;

  constructor(
    private readonly redis: Redis,
    private readonly store: { readonly embedded: boolean; readonly address: string },
  ) {}

  async look(): Promise<Overview['store']> {
    const start = performance.now();
    try {
      await this.redis.ping();
    } catch {
      return this.down();
    }
    const latencyMs = Math.round((performance.now() - start) * 10) / 10;
    if (this.info === null || start - this.info.at > INFO_EVERY_MS) this.info = await this.readInfo(start);
    const { usedBytes, version } = this.info;
    return { ...this.store, up: true, latencyMs, usedBytes, version };
  }

  down(): Overview['store'] {
    return { ...this.store, up: false, latencyMs: null, usedBytes: null, version: null };
  }

  private async readInfo(at: number) {
    const text = await this.redis.info().catch(() => '');
    const used = /^used_memory:(\d+)/m.exec(text)?.[1];
    return {
      at,
      usedBytes: used === undefined ? null : Number(used),
      version: /^redis_version:(\S+)/m.exec(text)?.[1] ?? null,
    };
  }
}
