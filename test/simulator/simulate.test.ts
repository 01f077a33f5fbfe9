import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CERTAINTIES } from '../../src/core/profile.js';
import { planOf } from './draw.js';
import { Simulator, story } from './run.js';

/**
 * A slice of `npm run simulate`, by other seeds each time: whatever history of machines, people, pasts and
 * clocks, nothing is applied twice, nothing is lost or called what it is not, and nothing stands still
 * without being named.
 */
const SLICE_MS = 5_000;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await Simulator.start();
});
afterAll(() => simulator.stop());

describe.each(CERTAINTIES)('with certainty %s', (certainty) => {
  test('every history ends with everybody paid once and nobody in silence', async () => {
    const first = Number(process.env.SIMULATE_SEED ?? Math.floor(Math.random() * 1e9));
    console.log(`simulate: --certainty ${certainty} --seed ${first}`);
    const end = performance.now() + SLICE_MS;
    for (let seed = first; seed === first || performance.now() < end; seed++) {
      const plan = planOf(seed, certainty);
      const judgement = await simulator.play(plan);
      const [fault] = judgement.faults;
      if (fault === undefined) continue;
      const shortest = await simulator.shortest(plan, fault.kind);
      expect.fail(`seed ${seed}, ${plan.theme}:\n${story(shortest, await simulator.play(shortest))}`);
    }
  });
});
