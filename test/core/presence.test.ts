import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CONCLUSIONS,
  HEARD_LATELY_MS,
  type Liveness,
  presenceOf,
  SIGN_EVERY_MS,
} from '../../src/core/presence.js';
import { generated } from '../support/suites.js';

const NOW = 1_000_000_000;
const at = (life: Liveness, silentMs: number, beats = true) =>
  presenceOf({ life, seenMs: NOW - silentMs, beats }, NOW);

const anySign = fc.record({
  life: fc.constantFrom<Liveness>('alive', 'dead', 'elsewhere'),
  seenMs: fc.integer({ min: 0, max: 2 * NOW }),
  beats: fc.boolean(),
});

describe('who is dead', () => {
  test('only a proven death counts, whatever the clocks say', () => {
    fc.assert(
      fc.property(anySign, (sign) => {
        expect(presenceOf(sign, NOW) === 'dead').toBe(sign.life === 'dead');
      }),
      generated(300, 3_000),
    );
  });

  test('only of the dead orders may be taken over, and all who are not at work are named', () => {
    fc.assert(
      fc.property(anySign, (sign) => {
        const presence = presenceOf(sign, NOW);
        const { orders, named } = CONCLUSIONS[presence];
        expect(orders).toBe(sign.life === 'dead' ? 'may be taken over' : 'stay');
        expect(named === null).toBe(presence === 'at-work');
      }),
      generated(300, 3_000),
    );
  });
});

describe('who is at work', () => {
  test('until the very end of the time, and not a millisecond longer', () => {
    expect(at('elsewhere', HEARD_LATELY_MS)).toBe('at-work');
    expect(at('elsewhere', HEARD_LATELY_MS + 1)).toBe('silent');
    expect(at('alive', HEARD_LATELY_MS)).toBe('at-work');
    expect(at('alive', HEARD_LATELY_MS + 1)).toBe('frozen');
  });

  test('a process that never gave a sign is believed where it answers, and elsewhere only at its start', () => {
    expect(at('alive', 900_000, false)).toBe('at-work');
    expect(at('elsewhere', HEARD_LATELY_MS, false)).toBe('at-work');
    expect(at('elsewhere', HEARD_LATELY_MS + 1, false)).toBe('silent');
  });

  test('a process that misses three signs in a row still is', () => {
    for (const life of ['alive', 'elsewhere'] as const) expect(at(life, 4 * SIGN_EVERY_MS)).toBe('at-work');
  });
});
