import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CERTAINTIES, type Certainty } from '../../src/core/profile.js';
import { isLong, SEED } from '../support/suites.js';
import { planOf, themesOf } from './draw.js';
import { Simulator, story } from './run.js';
import { THEME_NAMES, type ThemeName } from './themes.js';

/**
 * A slice of `npm run simulate`: whatever history of machines, people, pasts and clocks, no order is applied twice,
 * none is lost or reported as what it is not, and none stands still without being named. The quick suite plays every
 * theme under one certainty and with small files, the long suite under the two others; the seed says which.
 */
function themesHere(certainty: Certainty): ThemeName[] {
  return themesOf(certainty).filter((theme) => {
    const fitting = CERTAINTIES.filter((one) => themesOf(one).includes(theme));
    const turn = fitting[(SEED + THEME_NAMES.indexOf(theme)) % fitting.length];
    return fitting.length === 1 || (turn === certainty) !== isLong;
  });
}

/** In each of the first files. */
const QUICK_ORDERS = 40;

let simulator: Simulator;
beforeAll(async () => {
  simulator = await Simulator.start();
});
afterAll(() => simulator.stop());

describe.each(CERTAINTIES)('with certainty %s', (certainty) => {
  test.each(themesHere(certainty))(
    'every history of %s pays every order once, or names it',
    async (theme) => {
      const whole = planOf(SEED, certainty, theme);
      const plan = isLong ? whole : { ...whole, orders: Math.min(whole.orders, QUICK_ORDERS) };
      const [fault] = (await simulator.play(plan)).faults;
      if (fault === undefined) return;
      const shortest = await simulator.shortest(plan, fault.kind);
      expect.fail(`seed ${SEED}, ${theme}:\n${story(shortest, await simulator.play(shortest))}`);
    },
  );
});
