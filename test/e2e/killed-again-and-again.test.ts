import { test } from 'vitest';
import { expectPaidOnceDespite } from '../support/program/killed-runs.js';

test(
  'a run killed at three moments, its Redis every third time, pays everybody exactly once',
  () => expectPaidOnceDespite(3, 600),
  240_000,
);
