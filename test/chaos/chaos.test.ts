import { expect, test } from 'vitest';
import { CERTAINTIES } from '../../src/core/profile.js';
import { chaosRun } from '../support/chaos-run.js';

/**
 * Everything dies in turn, and nobody is paid twice or told wrong. A short seed here; `npm run chaos` hands
 * in more seconds, another seed, another certainty.
 */
const seconds = Number(process.env.CHAOS_SECONDS ?? 14);
const seed = Number(process.env.CHAOS_SEED ?? 3);
const certainty = CERTAINTIES.find((one) => one === process.env.CHAOS_CERTAINTY) ?? 'idempotent';
const long = process.env.CHAOS_SECONDS !== undefined;

test(
  `${seconds} s of chaos with seed ${seed} end with no wrong verdict`,
  async () => {
    const say = (line: string) => {
      if (long) process.stdout.write(`${line}\n`);
    };
    const figures = await chaosRun({
      seed,
      seconds,
      certainty,
      workers: 3,
      rowsPerBatch: long ? 600 : 120,
      freezeMaxMs: 3_000,
      say,
    });
    say(JSON.stringify({ certainty, seed, seconds, ...figures }, null, 2));
    expect(figures.wrong).toEqual([]);
    const { paid = 0, doubt = 0, exhausted = 0 } = figures.states;
    expect(paid + doubt + exhausted).toBe(figures.orders);
    // A realm that honours keys leaves nothing to doubt.
    if (certainty === 'idempotent') expect(doubt).toBe(0);
  },
  3 * seconds * 1000 + 300_000,
);
