import { test } from 'vitest';
import { expectPaidOnceDespite } from '../support/program/killed-runs.js';

test(
  'a run killed at eight moments, its Redis every third time, pays everybody exactly once',
  () => expectPaidOnceDespite(8, 1_200),
  240_000,
);
