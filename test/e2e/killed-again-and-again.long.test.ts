import { test } from 'vitest';
import { expectPaidOnceDespite } from '../support/program/killed-runs.js';

test(
  'a run killed at six moments, its Redis every third time, pays everybody exactly once',
  () => expectPaidOnceDespite(6, 900),
  240_000,
);
