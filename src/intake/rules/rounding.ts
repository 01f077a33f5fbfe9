import type { Rounding } from './rule.js';

/** Binary fractions miss by a hair: 0.29 * 100 is 28.999999999999996, and nobody means 28 by it. */
const HAIR = 1e-9;

/** Whole points from a number that is not negative; null where it is beyond what can be counted exactly. */
export function wholePoints(amount: number | bigint, rounding: Rounding | null): number | null {
  if (typeof amount === 'bigint') return amount > BigInt(Number.MAX_SAFE_INTEGER) ? null : Number(amount);
  const nearest = Math.round(amount);
  const near = Math.abs(amount - nearest) <= HAIR * Math.max(1, Math.abs(amount));
  const whole = near ? nearest : rounded(amount, rounding);
  return whole === null || !Number.isSafeInteger(whole) ? null : whole;
}

function rounded(amount: number, rounding: Rounding | null): number | null {
  switch (rounding) {
    case 'floor':
      return Math.floor(amount);
    case 'ceil':
      return Math.ceil(amount);
    case 'round':
      return Math.round(amount);
    // An expression that is whole by its type never comes here.
    case null:
      return null;
  }
}
