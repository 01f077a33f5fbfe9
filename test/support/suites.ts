/** Whether the long suite runs. It guards tests that only the long suite runs, in files that both suites share. */
export const isLong = process.env.ALMONER_TEST_SUITE === 'long';

export const SEED = Number(process.env.ALMONER_TEST_SEED ?? 20_261_117);

/**
 * How many cases generated tests play. `npm test` plays the first number from a fixed seed, so that every run is the
 * same. `npm run test:long` plays the second from a random seed, which it prints. ALMONER_TEST_SEED replays a seed.
 */
export function cases(quick: number, long: number): number {
  return isLong ? long : quick;
}

/** The same number and seed as fast-check's parameters. */
export function generated(quick: number, long: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: cases(quick, long), seed: SEED };
}
