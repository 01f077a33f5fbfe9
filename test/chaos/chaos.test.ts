import { expect, test } from 'vitest';
import { chaosRun } from '../support/program/chaos-run.js';

/**
 * Everything dies in turn; no member is paid twice, and no order is reported wrongly. This plays a few seconds of one
 * seed; chaos.long.test.ts plays more.
 */
const SECONDS = 4;
const SEED = 3;

test(`${SECONDS} s of chaos with seed ${SEED} end with no wrong verdict`, async () => {
  const { wrong, states, orders } = await chaosRun({
    seed: SEED,
    seconds: SECONDS,
    certainty: 'idempotent',
    workers: 3,
    rowsPerBatch: 120,
    freezeMaxMs: 3_000,
    say: () => {},
  });
  expect(wrong).toEqual([]);
  // A realm that honours keys leaves nothing to doubt.
  const { paid = 0, exhausted = 0 } = states;
  expect(paid + exhausted).toBe(orders);
}, 300_000);
