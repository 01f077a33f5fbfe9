import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CERTAINTIES } from '../../src/core/profile.js';
import { cases, SEED } from '../support/suites.js';
import { planOf, themesOf } from './draw.js';
import { Simulator, story } from './run.js';

/**
 * A slice of `npm run simulate`: whatever history of machines, people, pasts and clocks, no order is applied twice,
 * none is lost or reported as what it is not, and none stands still without being named. Every theme is played under
 * every certainty that it is for.
 */
const HISTORIES = cases(1, 2);

let simulator: Simulator;
beforeAll(async () => {
  simulator = await Simulator.start();
});
afterAll(() => simulator.stop());

describe.each(CERTAINTIES)('with certainty %s', (certainty) => {
  test.each(themesOf(certainty))('every history of %s pays every order once, or names it', async (theme) => {
    for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
      const plan = planOf(seed, certainty, theme);
      const judgement = await simulator.play(plan);
      const [fault] = judgement.faults;
      if (fault === undefined) continue;
      const shortest = await simulator.shortest(plan, fault.kind);
      expect.fail(`seed ${seed}, ${theme}:\n${story(shortest, await simulator.play(shortest))}`);
    }
  });
});
