import { Fraction } from './fraction.js';

/**
 * Shares of a pot in proportion to weights, in whole points: everybody gets the whole part of the share, and
 * the points left over go to the largest remainders, the earlier member first where two are equal. The sum is
 * the pot, or nothing where no weight is above zero. The same input always gives the same shares.
 */
export function sharePot(pot: number, weights: readonly (bigint | Fraction)[]): number[] {
  const exact = weights.map(scaled);
  const sum = exact.reduce((total, weight) => total + weight, 0n);
  if (sum === 0n || pot <= 0) return weights.map(() => 0);
  const points = BigInt(pot);
  const shares = exact.map((weight) => (points * weight) / sum);
  const left = Number(points - shares.reduce((total, share) => total + share, 0n));
  const byRemainder = exact
    .map((weight, index) => ({ index, remainder: (points * weight) % sum }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1));
  const lucky = new Set(byRemainder.slice(0, left).map(({ index }) => index));
  return shares.map((share, index) => Number(share) + (lucky.has(index) ? 1 : 0));
}

/** Weights are compared to a millionth: a common denominator of all of them could fill the memory. */
const SCALE = new Fraction(1_000_000n, 1n);

function scaled(weight: bigint | Fraction): bigint {
  return Fraction.of(weight).times(SCALE).round();
}
