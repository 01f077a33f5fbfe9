import { expect, test } from 'vitest';
import { busyMs } from '../../src/ledger/read/batch-facts.js';
import { sliceMsOf } from '../../src/planning/preview.js';

test('slices fit the run: fine where it is over in seconds, never so fine that each holds one order', () => {
  expect(sliceMsOf(0, 40)).toBe(50);
  expect(sliceMsOf(1_000, 1_000)).toBe(50);
  expect(sliceMsOf(1_000, 40)).toBe(150);
  expect(sliceMsOf(25_000, 10)).toBe(1_000);
  expect(sliceMsOf(3_600_000, 10_000)).toBe(18_000);
});

test('time at work is counted in whole seconds where slices are finer: a slow answer between two is no pause', () => {
  expect(busyMs([0, 50, 900, 1_950], 50)).toBe(2_000);
  expect(busyMs([0, 10_000, 30_000], 10_000)).toBe(30_000);
});
