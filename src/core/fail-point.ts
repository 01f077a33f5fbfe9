/**
 * Named places between claim and acknowledgement at which a test may end or freeze the process. Nothing
 * here reads an environment or a setting: unless a test's own preload hands in what to do, a fail point is
 * one comparison.
 */
export const FAIL_POINTS = [
  'claimed',
  'slot-taken',
  'begun',
  'intent-written',
  'answered',
  'result-journaled',
  'settled',
  'delivered',
] as const;
/** The steps of a restore: its store is loaded, staged, its note written, the former store aside, the staged one in its place. */
export const RESTORE_POINTS = [
  'restore-loaded',
  'restore-staged',
  'restore-noted',
  'restore-aside',
  'restore-in',
  'restore-done',
] as const;
/** Also those that only an unknown under read-back passes: its members were read, and the reading was noted. */
export type FailPoint =
  | (typeof FAIL_POINTS)[number]
  | (typeof RESTORE_POINTS)[number]
  | 'balances-read'
  | 'check-noted';

let reached: ((point: FailPoint) => void) | undefined;

export function failPoint(point: FailPoint): void {
  if (reached !== undefined) reached(point);
}

export function onFailPoint(action: (point: FailPoint) => void): void {
  reached = action;
}
