import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CERTAINTIES, type Certainty } from '../../src/core/profile.js';
import { cases, isLong, SEED } from '../support/suites.js';
import { planOf, themesOf } from './draw.js';
import type { Plan } from './moves.js';
import { Simulator, story } from './run.js';
import { THEME_NAMES, type ThemeName } from './themes.js';

/**
 * A slice of `npm run simulate`. After each history every order was paid once or has a readable reason, and every
 * report is true. Each suite plays every theme once, under a certainty that its seed chooses: small files, and only the
 * first moves.
 */
function themesHere(certainty: Certainty): ThemeName[] {
  return themesOf(certainty).filter((theme) => {
    const fitting = CERTAINTIES.filter((one) => themesOf(one).includes(theme));
    const turn = SEED + THEME_NAMES.indexOf(theme) + (isLong ? 1 : 0);
    return fitting[turn % fitting.length] === certainty;
  });
}

/** `npm run simulate` plays them whole. */
const MOVES = cases(10, 60);

function beginningOf(plan: Plan): Plan {
  return { ...plan, orders: Math.min(plan.orders, MOVES), moves: plan.moves.slice(0, MOVES) };
}

let simulator: Simulator;
beforeAll(async () => {
  simulator = await Simulator.start();
});
afterAll(() => simulator.stop());

describe.each(CERTAINTIES)('with certainty %s', (certainty) => {
  test.each(themesHere(certainty))(
    'every history of %s pays every order once, or names it',
    async (theme) => {
      const plan = beginningOf(planOf(SEED, certainty, theme));
      const [fault] = (await simulator.play(plan)).faults;
      if (fault === undefined) return;
      const shortest = await simulator.shortest(plan, fault.kind);
      expect.fail(`seed ${SEED}, ${theme}:\n${story(shortest, await simulator.play(shortest))}`);
    },
  );
});
