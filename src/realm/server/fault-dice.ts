import type { FaultName, FaultPlan } from './faults.js';

/** What is to happen to one request beside being served. */
export type Fate = {
  readonly latencyMs: number;
  readonly misfortune: Misfortune | null;
};

export type Misfortune =
  | { readonly kind: 'storm'; readonly retryAfterMs: number }
  | { readonly kind: 'error'; readonly when: 'before' | 'after'; readonly status: number }
  | { readonly kind: 'hang'; readonly when: 'before' | 'after'; readonly closeAfterMs: number }
  | { readonly kind: 'reset'; readonly when: 'before' | 'after' }
  /** 0 bytes: half of the body. */
  | { readonly kind: 'truncate'; readonly bytes: number };

export type FaultDice = { next(): Fate };

/**
 * Draws a fate per request from a seeded generator. Every rule takes exactly one number for every request,
 * hit or not, so that the same seed and the same requests in the same order meet the same faults. When
 * several hit, latency comes on top and the first of the others in the plan's order wins.
 */
export function createFaultDice(plan: FaultPlan, nowMs: () => number): FaultDice {
  const random = mulberry32(plan.seed);
  let stormUntilMs = Number.NEGATIVE_INFINITY;
  return {
    next() {
      let latencyMs = 0;
      let hit: { name: Exclude<FaultName, 'latency'>; value: number } | null = null;
      for (const { name, probability, value } of plan.rules) {
        if (random() >= probability) continue;
        if (name === 'latency') latencyMs = value;
        else hit ??= { name, value };
      }
      if (hit?.name === 'storm') stormUntilMs = Math.max(stormUntilMs, nowMs() + hit.value);
      const stormLeftMs = stormUntilMs - nowMs();
      if (stormLeftMs > 0) return { latencyMs, misfortune: { kind: 'storm', retryAfterMs: stormLeftMs } };
      return { latencyMs, misfortune: hit === null ? null : misfortuneOf(hit.name, hit.value) };
    },
  };
}

function misfortuneOf(name: Exclude<FaultName, 'latency'>, value: number): Misfortune {
  switch (name) {
    case 'storm':
      return { kind: 'storm', retryAfterMs: value };
    case 'error-before':
      return { kind: 'error', when: 'before', status: value };
    case 'hang-before':
      return { kind: 'hang', when: 'before', closeAfterMs: value };
    case 'reset-before':
      return { kind: 'reset', when: 'before' };
    case 'error-after':
      return { kind: 'error', when: 'after', status: value };
    case 'hang-after':
      return { kind: 'hang', when: 'after', closeAfterMs: value };
    case 'reset-after':
      return { kind: 'reset', when: 'after' };
    case 'truncate':
      return { kind: 'truncate', bytes: value };
  }
}

/** A small generator with a 32-bit state: plenty for dice, and the same on every machine. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
