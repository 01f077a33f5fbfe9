import { expect, test } from 'vitest';
import { CERTAINTIES } from '../../src/core/profile.js';
import { chaosRun } from '../support/program/chaos-run.js';
import { SEED } from '../support/suites.js';

/** Chaos with another seed each time, for every certainty. `npm run chaos` hands in more seconds, a seed, one certainty. */
const seconds = Number(process.env.CHAOS_SECONDS ?? 6);
const seed = Number(process.env.CHAOS_SEED ?? SEED);
const wanted = CERTAINTIES.filter((one) => one === (process.env.CHAOS_CERTAINTY ?? one));

test.each(wanted)(
  `${seconds} s of chaos with seed ${seed} and certainty %s end with no wrong verdict`,
  async (certainty) => {
    const say = (line: string) => void process.stdout.write(`${line}\n`);
    const figures = await chaosRun({
      seed,
      seconds,
      certainty,
      workers: 3,
      rowsPerBatch: process.env.CHAOS_SECONDS === undefined ? 120 : 600,
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
