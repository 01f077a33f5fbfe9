import { TOKENS_MAX } from '../core/points.js';
import { Fraction } from './fraction.js';
import type { Rounding } from './rule.js';

/** Whole points from a number that is not negative; null where it is beyond what can be counted exactly. */
export function wholePoints(amount: bigint | Fraction, rounding: Rounding | null): number | null {
  const whole = amount instanceof Fraction ? rounded(amount, rounding) : amount;
  return whole === null || whole > BigInt(TOKENS_MAX) ? null : Number(whole);
}

function rounded(amount: Fraction, rounding: Rounding | null): bigint | null {
  switch (rounding) {
    case 'floor':
      return amount.floor();
    case 'ceil':
      return amount.ceil();
    case 'round':
      return amount.round();
    // An expression that is whole by its type never comes here.
    case null:
      return null;
  }
}
