/** Which suite runs. A test that only the long suite has, in a file that both have, stands behind this. */
export const isLong = process.env.ALMONER_TEST_SUITE === 'long';

export const SEED = Number(process.env.ALMONER_TEST_SEED ?? 20_261_117);

/**
 * How long generated tests play. `npm test` plays the first number of cases from a fixed seed, so that it is the same
 * run every time; `npm run test:long` plays the second from a random seed, which it prints. ALMONER_TEST_SEED replays one.
 */
export function cases(quick: number, long: number): number {
  return isLong ? long : quick;
}

/** The same as fast-check's parameters. */
export function generated(quick: number, long: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: cases(quick, long), seed: SEED };
}
